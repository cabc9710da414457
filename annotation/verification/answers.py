"""Answers to key points: the two judgments, the documents they are about, and worked examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.labelling.acts import unsure_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import AnswerKind
from annotation.labelling.trial import (
    Documents,
    Example,
    ExampleAnswers,
    Judged,
    OwnItem,
    OwnSet,
    TrialKind,
    sentence,
    some,
)
from annotation.models import Grounded, Keyness, LabelItem, LabelTask, PointLabel, Study
from annotation.pane import Pane, compress, direction_of, joined, kept_document, rendered_document
from benchmarks.io.schemas.fields import Expected, OptionalText, Text
from benchmarks.models import KeyPoint, Question, QuestionDocument, Span
from benchmarks.web.pages import Mark

CLEARED = ""


@dataclass(frozen=True, slots=True)
class Judgments:
    """The answer to one key point: `grounded` "" clears it, `keyness` "" leaves the second question open."""

    grounded: str = CLEARED
    keyness: str = ""
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether it says all that is asked: nothing more after a no, keyness after a yes."""
        return self.grounded == Grounded.NO or (self.grounded == Grounded.YES and bool(self.keyness))


class PointJudgments(AnswerKind[Judgments]):
    model = PointLabel

    def parse(self, data: QueryDict) -> Judgments:
        """The answer in a form: `grounded, keyness?, unsure?`."""
        grounded = data.get("grounded", "")
        return Judgments(grounded, data.get("keyness", ""), unsure_in(data, answer=grounded))

    def checked(self, task: Any, judgments: Judgments) -> Judgments:
        if task.item.question_id is None or task.item.key_point_id is None:
            raise TaskRefused("not_asked", _("This is no key point to verify."))
        if judgments.grounded not in {CLEARED, *Grounded.values} or judgments.keyness not in {"", *Keyness.values}:
            raise TaskRefused("invalid", _("Answers are yes or no, then agree, neutral or disagree."))
        if judgments.grounded == Grounded.YES:
            return judgments
        if judgments.keyness and judgments.grounded == CLEARED:
            raise TaskRefused("yes_first", _("Answer yes to the first question before the second."))
        return Judgments(judgments.grounded, "", judgments.is_unsure and judgments.grounded != CLEARED)

    def columns(self, task: Any, judgments: Judgments) -> dict[str, Any]:
        return {
            "key_point_id": task.item.key_point_id,
            "grounded": judgments.grounded,
            "keyness": judgments.keyness,
            "is_check": task.item.role == LabelItem.Role.GOLD,
        }

    def answer_of(self, label: PointLabel | None) -> Judgments:
        return Judgments() if label is None else Judgments(label.grounded, label.keyness, label.is_unsure)

    def in_words(self, task: Any, judgments: Judgments) -> str:
        words: dict[str, str] = {
            Grounded.YES: _("yes"),
            Grounded.NO: _("no"),
            Keyness.AGREE: _("agree"),
            Keyness.NEUTRAL: _("neutral"),
            Keyness.DISAGREE: _("disagree"),
        }
        parts = [words[value] for value in (judgments.grounded, judgments.keyness) if value]
        return ", ".join([*parts, _("not sure")] if judgments.is_unsure else parts)


POINT = PointJudgments()


@dataclass(frozen=True, slots=True)
class Passage:
    """A marked passage; `number` counts from 1 in the order of reading."""

    number: int
    document: QuestionDocument
    start: int
    end: int

    @property
    def anchor(self) -> str:
        return f"span-{self.number}"


@dataclass(frozen=True, slots=True)
class Highlight:
    """Marks for a task: passages, and quotes that no document holds."""

    passages: tuple[Passage, ...] = ()
    lost: tuple[str, ...] = ()

    def in_document(self, document: QuestionDocument) -> list[Passage]:
        return [passage for passage in self.passages if passage.document == document]


def documents_of(question: Question) -> list[QuestionDocument]:
    """The documents in order, their texts left out until somebody needs them; one query."""
    return list(question.documents.order_by("number").defer("text"))


def highlight_for(item: Any, documents: list[QuestionDocument]) -> Highlight:
    """The passages of the key point that an item highlights, as far as it is one of the question; one query."""
    if item.highlight_of_id is None:
        return Highlight()
    by_pk = {document.pk: document for document in documents}
    spans = Span.objects.filter(key_point=item.highlight_of_id, key_point__question=item.question_id)
    places, lost = [], []
    for span in spans.order_by("number"):
        if span.start is not None and span.document_id in by_pk:
            places.append((by_pk[span.document_id], span.start, span.end or span.start))
        else:
            lost.append(span.quote)
    places.sort(key=lambda place: (place[0].number, place[1], place[2]))
    passages = (Passage(n, document, start, end) for n, (document, start, end) in enumerate(places, 1))
    return Highlight(tuple(passages), tuple(lost))


def laid_out(
    task: LabelTask, documents: list[QuestionDocument], highlight: Highlight, answer: Judgments
) -> dict[str, Any]:
    """A key point and an answer to it as the page shows them, stored or not."""
    question = task.item.question
    return {
        "question": question,
        "language": question.language,
        "key_point": task.item.key_point,
        "direction": direction_of(question.language),
        "answer": answer,
        "documents": [(document, highlight.in_document(document)) for document in documents],
        "highlight": highlight,
    }


def pane_of(question: Question, documents: list[QuestionDocument], highlight: Highlight) -> Pane:
    """All documents, compressed; those with a mark made anew, the others as kept."""
    marks: dict[int, list[Mark]] = defaultdict(list)
    for passage in highlight.passages:
        marks[passage.document.pk].append(Mark(passage.start, passage.end, 1, passage.anchor))
    texts = QuestionDocument.objects.filter(pk__in=list(marks)).in_bulk() if marks else {}
    pieces = []
    for document in documents:
        if document.pk in marks:
            html = rendered_document(texts[document.pk], marks[document.pk], language=question.language)
            pieces.append(compress(html, level=4))
        else:
            pieces.append(kept_document(document, question.language, "question", str(question.uid)))
    return joined(pieces)


class OwnPoint(OwnItem):
    """A key point with its judgments; `highlight` and `decides` are passages of a document, letter by letter."""

    point: Text
    highlight: OptionalText = ""
    decides: OptionalText = ""
    grounded: Annotated[Literal["yes", "no"], Expected("yes or no")]
    keyness: Annotated[Literal["agree", "neutral", "disagree", ""], Expected("agree, neutral or disagree")] = ""
    why: Text

    def problem(self, shared: Any) -> tuple[str, str] | None:
        if (self.grounded == "yes") != bool(self.keyness):
            return "keyness", "an answer where the point is in the documents, and none where it is not"
        texts = [document.text for document in shared.document]
        for name in ("highlight", "decides"):
            if not any(getattr(self, name) in text for text in texts):
                return name, "a passage of a document, letter by letter"
        return None


class OwnPoints(OwnSet):
    """Key points of one question, beside its documents."""

    question: Text
    document: Documents
    item: some(OwnPoint, "examples")  # type: ignore[valid-type]


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
        documents = [QuestionDocument(pk=-each["number"], **each) for each in example.documents]
        return laid_out(task, documents, _highlight(example, documents), answers.answers.get("", Judgments()))

    def judged(self, task: LabelTask, example: Example, question: str, answer: Judgments) -> list[Judged]:
        values = example.values
        expected = Judgments(values["grounded"], values.get("keyness", ""))
        is_right = (answer.grounded, answer.keyness) == (expected.grounded, expected.keyness)
        chosen, wanted = POINT.in_words(task, answer), POINT.in_words(task, expected)
        told = sentence(is_right=is_right, answer=chosen, expected=wanted, why=values["why"])
        decides = values.get("decides") or values.get("highlight", "")
        return [Judged("", is_right, told, values["point"], decides)]


def _highlight(example: Example, documents: list[QuestionDocument]) -> Highlight:
    quote = example.values.get("highlight", "")
    places = [(document, document.text.find(quote)) for document in documents] if quote else []
    marked = ((document, start) for document, start in places if start >= 0)
    return Highlight(
        tuple(Passage(n, document, start, start + len(quote)) for n, (document, start) in enumerate(marked, 1))
    )


TRIAL = VerificationTrial()
