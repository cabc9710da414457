"""The worked examples of verification: a question, documents, and a key point that they hold or do not."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from annotation.labelling.trial.examples import Example, ExampleAnswers, Judged, TrialKind, sentence
from annotation.labelling.trial.schema import MOST, Documents, OwnItem, OwnSet
from annotation.models import LabelItem, LabelTask, Study
from annotation.pane import Pane, compress, rendered_document
from annotation.verification.documents import Highlight, Passage, laid_out
from annotation.verification.recording import POINT, Judgments
from benchmarks.io.schemas.fields import Expected, OptionalText, Text
from benchmarks.models import KeyPoint, Question, QuestionDocument
from benchmarks.web.pages import Mark


class OwnPoint(OwnItem):
    """A key point with its judgments; `highlight` is a passage of a document, as it stands there."""

    point: Text
    highlight: OptionalText = ""
    grounded: Annotated[Literal["yes", "no"], Expected("yes or no")]
    keyness: Annotated[Literal["agree", "neutral", "disagree", ""], Expected("agree, neutral or disagree")] = ""
    why: Text

    def problem(self, shared: Any) -> tuple[str, str] | None:
        if (self.grounded == "yes") != bool(self.keyness):
            return "keyness", "an answer where the point is in the documents, and none where it is not"
        if self.highlight and not any(self.highlight in document.text for document in shared.document):
            return "highlight", "a passage of a document, letter by letter"
        return None


class OwnPoints(OwnSet):
    """Key points of one question, beside its documents."""

    question: Text
    document: Documents
    item: Annotated[list[OwnPoint], Field(min_length=1, max_length=MOST), Expected(f"1 to {MOST} examples")]


class VerificationTrial(TrialKind[Judgments]):
    """Right is the expected pair of judgments; the second is asked after a yes only."""

    file = Path(__file__).with_name("trial.toml")
    answers = POINT
    schema = OwnPoints

    def texts(self, example: Example) -> Iterable[str]:
        return (example.values["point"],)

    def texts_of_items(self, study: Study) -> Iterable[str]:
        return study.label_items.values_list("key_point__text", flat=True)

    def item(self, example: Example) -> LabelItem:
        question = Question(pk=0, text=example.shared["question"], language=example.language)
        return LabelItem(question=question, key_point=KeyPoint(pk=0, text=example.values["point"]))

    def context(self, task: LabelTask, example: Example, answers: ExampleAnswers[Judgments]) -> dict[str, Any]:
        documents = [
            QuestionDocument(
                pk=-n, number=n, title=each["title"], text=each["text"], n_words=len(each["text"].split())
            )
            for n, each in enumerate(example.shared["document"], 1)
        ]
        return laid_out(task, documents, _highlight(example, documents), answers.answers.get("", Judgments()))

    def pane(self, context: dict[str, Any]) -> Pane:
        language = context["question"].language
        html = b"".join(
            rendered_document(
                document,
                [Mark(passage.start, passage.end, 1, passage.anchor) for passage in passages],
                language=language,
            )
            for document, passages in context["documents"]
        )
        return compress(html, level=4)

    def judged(self, task: LabelTask, example: Example, question: str, answer: Judgments) -> list[Judged]:
        values = example.values
        expected = Judgments(values["grounded"], values.get("keyness", ""))
        is_right = (answer.grounded, answer.keyness) == (expected.grounded, expected.keyness)
        words = POINT.in_words(task, expected)
        return [Judged("", is_right, sentence(is_right=is_right, expected=words, why=values["why"]))]


def _highlight(example: Example, documents: list[QuestionDocument]) -> Highlight:
    quote = example.values.get("highlight", "")
    places = [(document, document.text.find(quote)) for document in documents] if quote else []
    marked = ((document, start) for document, start in places if start >= 0)
    return Highlight(
        tuple(Passage(n, document, start, start + len(quote)) for n, (document, start) in enumerate(marked, 1))
    )


TRIAL = VerificationTrial()
