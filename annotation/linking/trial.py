"""The worked examples of coverage linking: a short summary, and insights that it covers or does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from annotation.labelling.trial.examples import Example, ExampleAnswers, Judged, TrialKind, sentence, uid_of
from annotation.labelling.trial.schema import MOST, OwnItem, OwnSet
from annotation.linking.bullets import bullets_of
from annotation.linking.page_context import Question, laid_out
from annotation.linking.recording import LINK, LinkingAnswer
from annotation.models import LabelItem, LabelTask, Study
from annotation.pane import direction_of
from benchmarks.io.schemas.fields import Expected, Part, Text
from benchmarks.models import Haystack, Insight, Subtopic, Summary


class OwnInsight(Part):
    """An insight with its expected coverage and bullets, counted from 1; any of them is right."""

    EXPECTED = "an insight"
    text: Text
    coverage: Annotated[Literal["none", "partial", "full"], Expected("none, partial or full")]
    lines: Annotated[list[int], Field(max_length=MOST), Expected("numbers of bullets, from 1")] = []
    why: Text


class OwnSummary(OwnItem):
    """A summary with the insights that are asked about it."""

    bullets: Annotated[list[Text], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} bullets")]
    insight: Annotated[list[OwnInsight], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} insights")]

    def problem(self, shared: Any) -> tuple[str, str] | None:
        for number, each in enumerate(self.insight):
            if (each.coverage == "none") == bool(each.lines):
                return f"insight[{number}].lines", "bullets where the insight is covered, and none where it is not"
            if not all(1 <= line <= len(self.bullets) for line in each.lines):
                return f"insight[{number}].lines", f"numbers from 1 to {len(self.bullets)}"
        return None


class OwnSummaries(OwnSet):
    """Summaries about one query."""

    query: Text
    item: Annotated[list[OwnSummary], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} examples")]


class LinkingTrial(TrialKind[LinkingAnswer]):
    """Right is the expected coverage and, where it is covered, an expected bullet."""

    file = Path(__file__).with_name("trial.toml")
    answers = LINK
    schema = OwnSummaries

    def texts(self, example: Example) -> Iterable[str]:
        return (*example.values["bullets"], *(insight["text"] for insight in example.values["insight"]))

    def texts_of_items(self, study: Study) -> Iterable[str]:
        items = study.label_items.select_related("summary")
        insights = Insight.objects.filter(subtopic__in=items.values("summary__subtopic"))
        lines = (bullet.text for item in items for bullet in bullets_of(item.summary))
        return chain(insights.values_list("text", flat=True), lines)

    def questions(self, example: Example) -> Sequence[str]:
        return [str(uid_of(example, n)) for n in range(len(example.values["insight"]))]

    def item(self, example: Example) -> LabelItem:
        haystack = Haystack(language=example.language, direction=direction_of(example.language))
        subtopic = Subtopic(haystack=haystack, name="", query=example.shared["query"])
        text = "\n".join(f"- {bullet}" for bullet in example.values["bullets"])
        return LabelItem(summary=Summary(haystack=haystack, subtopic=subtopic, text=text))

    def context(self, task: LabelTask, example: Example, answers: ExampleAnswers[LinkingAnswer]) -> dict[str, Any]:
        rows = []
        for number, (uid, values) in enumerate(
            zip(self.questions(example), example.values["insight"], strict=True), 1
        ):
            insight = Insight(uid=uid, number=number, text=values["text"])
            answer = answers.answers.get(uid, LinkingAnswer())
            rows.append(Question(number, insight, answer, answers.feedback.get(uid, "")))
        return laid_out(task, rows)

    def judged(self, task: LabelTask, example: Example, question: str, answer: LinkingAnswer) -> list[Judged]:
        values = example.values["insight"][list(self.questions(example)).index(question)]
        expected = LinkingAnswer(values["coverage"], tuple(values.get("lines", ())))
        is_right = answer.coverage == expected.coverage and (
            not expected.lines or not set(expected.lines).isdisjoint(answer.lines)
        )
        words = LINK.in_words(task, expected)
        return [Judged(question, is_right, sentence(is_right=is_right, expected=words, why=values["why"]))]


TRIAL = LinkingTrial()
