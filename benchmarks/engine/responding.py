"""Documents of a question as a summarizer is shown them, so that drafts of responses can be planned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.engine.summarizing import Shown
from benchmarks.engine.versions import NotPossible
from benchmarks.models import Draft, DraftText, Judge, JudgeRun, Question, QuestionDocument, System
from benchmarks.summarizers.conditions import CLOSED_BOOK, CUT, FULL, MADE, OWN_NOTES, Condition
from benchmarks.summarizers.documents import counted_by


@dataclass(frozen=True)
class Documents(Shown):
    """The documents of a question under a condition, in the order of the question."""

    condition: Condition = field(default_factory=Condition)

    task = JudgeRun.Task.RESPONSES
    subject = "question"
    related = ("question", "response")

    @property
    def name(self) -> str:
        """The condition; empty where all documents are shown."""
        return "" if self.condition.kind == FULL else self.condition.name

    def scope(self, name: str, judge: Judge) -> dict[str, Any]:
        """The question set by its name, the condition, and how tokens are counted where documents are cut."""
        about: dict[str, Any] = {"dataset": name, "documents": [self.condition.name]}
        return about | ({"cut_by": counted_by()} if self.condition.kind == CUT else {})

    def is_taken(self, system: System) -> bool:
        """Whether the system has responses that were not written here."""
        return system.responses.filter(draft=None).exists()

    def fresh(self, judge: Judge, subjects: Sequence[Question]) -> list[Draft]:
        """All documents by number, none for a closed book; two queries, and two for notes of another system."""
        if judge.kind != Judge.Kind.OPENAI and self.condition.kind not in {FULL, CUT}:
            raise NotPossible(f"{judge} is no model: it takes documents in full or cut.")
        numbers: dict[int, list[int]] = defaultdict(list)
        if self.condition.kind != CLOSED_BOOK:
            rows = QuestionDocument.objects.filter(question__in=subjects).order_by("number")
            for question, number in rows.values_list("question", "number"):
                numbers[question].append(number)
        notes = self._notes(subjects, numbers)
        return [
            Draft(
                question=subject,
                condition=self.condition.name,
                documents=numbers[subject.pk],
                notes_of=notes.get(subject.pk),
            )
            for subject in subjects
        ]

    def _notes(self, subjects: Sequence[Question], numbers: Mapping[int, Sequence[int]]) -> Mapping[int, Draft]:
        """The drafts of the system whose snippets or summaries are taken.

        Raises:
            NotPossible: it has not made them of all documents.
        """
        if self.condition.kind not in MADE or not self.condition.by:
            return {}
        key = f"{self.condition.kind}_{self.condition.by}"
        rows = Draft.objects.filter(system__key=key, question__in=subjects)
        drafts = {draft.question_id: draft for draft in rows if draft.question_id is not None}
        there = set(DraftText.objects.filter(draft__in=drafts.values()).values_list("draft", "number"))
        for subject in subjects:
            draft = drafts.get(subject.pk)
            if draft is None or any((draft.pk, number) not in there for number in numbers[subject.pk]):
                raise NotPossible(
                    f"{self.condition.by} has no {self.condition.kind} of all documents of “{subject}”. Let it "
                    "answer by them first."
                )
        return drafts


def with_shared_notes(condition: Condition, questions: Sequence[Question], judge: Judge) -> Condition:
    """Snippets or summaries that one system made for all: those of the first that has them of all these questions.

    That is what the condition means where it names no system (Long²RAG, section 5.6). A summarizer makes its own
    if nobody has yet, where it is the one who did, and where its own are asked for by the name `OWN_NOTES`.
    """
    if condition.by == OWN_NOTES:
        return Condition(condition.kind)
    if condition.kind not in MADE or condition.by:
        return condition
    makers = System.objects.filter(retriever=condition.kind, drafts__question__in=questions).distinct()
    for system in makers.order_by("pk"):
        if system.summarizer == str(judge):
            return condition
        shared = Condition(condition.kind, by=system.summarizer)
        try:
            Documents(shared).fresh(judge, questions)
        except NotPossible:
            continue
        return shared
    return condition
