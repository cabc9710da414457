"""The worked examples of rating: documents and a summary of them, with a range of ratings for each aspect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from django.utils.translation import gettext as _
from pydantic import Field, create_model

from annotation.labelling.trial.examples import Example, ExampleAnswers, Judged, TrialKind
from annotation.labelling.trial.schema import MOST, Documents, OwnItem, OwnSet
from annotation.models import LabelItem, LabelTask, Study
from annotation.pane import Pane, compress, direction_of, rendered_document
from annotation.rating.answers import RATED, Rated, name_of
from annotation.rating.page_context import laid_out
from benchmarks.io.schemas.fields import Expected, Text
from benchmarks.judges.aspects import ASPECTS
from benchmarks.models import Document, Haystack, Subtopic, Summary
from benchmarks.scoring.text import lines_from_list

Range = Annotated[
    list[Annotated[int, Field(ge=1, le=5)]],
    Field(min_length=2, max_length=2),
    Expected("the lowest and the highest right rating, such as [4, 5]"),
]


class OwnSummary(OwnItem):
    """A summary to rate."""

    lines: Annotated[list[Text], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} lines")]
    why: Text

    def problem(self, shared: Any) -> tuple[str, str] | None:
        ranges = ((aspect, getattr(self, aspect)) for aspect in ASPECTS)
        return next(((aspect, "the lower end first") for aspect, (low, high) in ranges if low > high), None)


OwnRated = create_model("OwnRated", __base__=OwnSummary, **dict.fromkeys(ASPECTS, (Range, ...)))  # type: ignore[call-overload]
"""With the range that a careful rating of each aspect lies in."""


class OwnSummaries(OwnSet):
    """Summaries about one question, beside its documents."""

    question: Text
    document: Documents
    item: Annotated[list[OwnRated], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} examples")]


class RatingTrial(TrialKind[Rated]):
    """Each aspect is a question of its own; right is a rating in its range, for raters differ."""

    file = Path(__file__).with_name("trial.toml")
    answers = RATED
    schema = OwnSummaries

    def texts(self, example: Example) -> Iterable[str]:
        return (line.plain for line in lines_from_list(example.values["lines"]))

    def texts_of_items(self, study: Study) -> Iterable[str]:
        items = study.label_items.select_related("summary")
        return (line.plain for item in items for line in lines_from_list(item.summary.lines) if line.n_words)

    def questions(self, example: Example) -> Sequence[str]:
        """The aspects of which an example has a range: those of before a new one do without."""
        return [aspect for aspect in ASPECTS if aspect in example.values]

    def item(self, example: Example) -> LabelItem:
        haystack = Haystack(language=example.language, direction=direction_of(example.language))
        subtopic = Subtopic(haystack=haystack, query=example.shared["question"])
        text = "\n".join(example.values["lines"])
        return LabelItem(summary=Summary(pk=0, haystack=haystack, subtopic=subtopic, text=text))

    def context(self, task: LabelTask, example: Example, answers: ExampleAnswers[Rated]) -> dict[str, Any]:
        documents = [
            Document(number=n, title=each["title"], text=each["text"], n_words=len(each["text"].split()))
            for n, each in enumerate(example.shared["document"], 1)
        ]
        return laid_out(task, documents, next(iter(answers.answers.values()), Rated()))

    def pane(self, context: dict[str, Any]) -> Pane:
        language = context["language"]
        html = b"".join(
            rendered_document(document, language=language) for document, _passages in context["documents"]
        )
        return compress(html, level=4)

    def judged(self, task: LabelTask, example: Example, question: str, answer: Rated) -> list[Judged]:
        judged = []
        for aspect in self.questions(example):
            value, (low, high) = answer.ratings[aspect], example.values[aspect]
            is_right = value is not None and low <= value <= high
            words = {"aspect": name_of(aspect), "value": value, "expected": f"{low}–{high}" if low < high else low}
            text = _("%(aspect)s: right.") if is_right else _("%(aspect)s: you %(value)s, expected %(expected)s.")
            judged.append(Judged(aspect, is_right, text % words))
        last = judged[-1]
        judged[-1] = Judged(last.question, last.is_right, f"{last.sentence}\n{example.values['why']}")
        return judged

    def restored(self, values: Mapping[str, Any]) -> Rated:
        ratings = dict(values)
        return Rated(is_unsure=ratings.pop("is_unsure"), ratings=ratings)


TRIAL = RatingTrial()
