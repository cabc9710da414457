"""Decisions of researchers where people disagree, for any label work. Labels stay; agreement never sees it.

A kind says in its `Decisions` what is decided on and which fields are the answer; only it knows what no answer is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import transaction
from django.db.models import Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.urls import reverse

from annotation.kinds import Waiting
from annotation.models import Study
from annotation.models.answers import Adjudication
from annotation.studies.amounts import in_figures
from benchmarks import audit

MAX_NOTE = 4_000
PAGE = "annotation:disagreements"
Key = tuple[int, ...]
"""An item by the primary keys of what it is made of, in the order of `Decisions.item`."""

Row = TypeVar("Row", bound=Adjudication)


class DecisionRefused(Exception):
    """A decision is not one that can be stored; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions(Generic[Row]):
    """How one kind of label work decides: by which rows, on which of its labels.

    `item` names the fields that say on what, `answers` those in which people may differ, both of decisions and of
    labels. `made` and `taken_back` are what the audit log calls it.
    """

    model: type[Row]
    labels: Any
    item: tuple[str, ...]
    answers: tuple[str, ...]
    made: str
    taken_back: str

    def history(self, study: Study, **item: Any) -> QuerySet[Row]:
        """Every decision on one item, the newest first."""
        rows = self.model._default_manager.filter(study=study, **item)
        return rows.select_related("made_by").order_by("-pk")

    def key(self, item: Mapping[str, Any]) -> Key:
        return tuple(item[name].pk for name in self.item)

    def value(self, row: Row | None) -> str:
        """The answer of a decision as one string; empty without one."""
        return " ".join(getattr(row, name, "") for name in self.answers).strip()

    def current(self, study: Study, keys: Iterable[Key]) -> dict[Key, Row]:
        """The decisions that hold on some items. One query."""
        wanted = set(keys)
        first = {f"{self.item[0]}__in": {key[0] for key in wanted}}
        rows = self.model._default_manager.filter(study=study, is_current=True, **first).select_related("made_by")
        held = {tuple(getattr(row, f"{name}_id") for name in self.item): row for row in rows}
        return {key: row for key, row in held.items() if key in wanted}

    @transaction.atomic
    def decide(
        self,
        *,
        study: Study,
        item: Mapping[str, Any],
        answer: Mapping[str, Any],
        by: Any,
        now: datetime,
        note: str = "",
        is_blind: bool = False,
        seen: int | None = None,
    ) -> Row:
        """Store a decision, which supersedes the one before; the same again by the same person changes nothing.

        `is_blind` says that the page hid who answered; only a first decision counts as blind. `seen` is the newest
        decision that the form knew: what the same person decided after that in the same words is this very form,
        delivered before.

        Raises:
            DecisionRefused: somebody else decided after `seen`.
        """
        history = self._locked(study, item)
        said = {**answer, "note": note.strip()[:MAX_NOTE], "made_by": by}
        is_same = Q(is_current=True) if seen is None else Q(is_current=True) | Q(pk__gt=seen)
        if (same := history.filter(is_same, **said).last()) is not None:
            return same
        _refuse_unseen(history, seen, by)
        before = history.first()
        supersedes = _retired(history)
        row = self.model._default_manager.create(
            study=study,
            **item,
            **said,
            was_blind=is_blind and before is None,
            supersedes=supersedes,
            made_at=now,
        )
        self._log(self.made, study, row, by=by, now=now)
        return row

    @transaction.atomic
    def take_back(
        self, *, study: Study, item: Mapping[str, Any], by: Any, now: datetime, seen: int | None = None
    ) -> bool:
        """Let a decision hold no longer; its row stays. Gives whether there was one.

        Raises:
            DecisionRefused: somebody else decided after `seen`.
        """
        history = self._locked(study, item)
        _refuse_unseen(history, seen, by)
        row = _retired(history)
        if row is not None:
            self._log(self.taken_back, study, row, by=by, now=now)
        return row is not None

    def undecided(self, studies: Iterable[int]) -> Counter[int]:
        """How many items people differ on and nobody has decided, by study; one query.

        What may be left open counts where it was answered.
        """
        here = {name: OuterRef(name) for name in ("study", *self.item)}
        decided = self.model._default_manager.filter(is_current=True, **here)
        ends: dict[str, Any] = {}
        differ = Q()
        for name in self.answers:
            field: Any = self.model._meta.get_field(name)
            answered = ~Q(**{name: ""}) if field.blank else None
            ends[f"least_{name}"] = Min(name, filter=answered)  # cheaper than to count different ones
            ends[f"most_{name}"] = Max(name, filter=answered)
            differ |= Q(**{f"least_{name}__lt": F(f"most_{name}")})
        labels = self.labels.objects.for_figures().filter(~Exists(decided), study__in=list(studies))
        rows = labels.order_by().values("study", *self.item).annotate(**ends).filter(differ)
        return Counter(rows.values_list("study", flat=True))

    def waiting(self, studies: Mapping[int, Study]) -> list[Waiting]:
        return [
            Waiting(
                in_figures(n, "disagreement to decide", "disagreements to decide"),
                reverse(PAGE, args=[studies[pk].uid]),
                studies[pk].name,
            )
            for pk, n in self.undecided(studies).items()
        ]

    def _locked(self, study: Study, item: Mapping[str, Any]) -> QuerySet[Row]:
        Study.objects.select_for_update().get(pk=study.pk)
        return self.history(study, **item)

    def _log(self, action: str, study: Study, row: Row, *, by: Any, now: datetime) -> None:
        about = {name: str(getattr(row, name).uid) for name in self.item}
        about |= {name: getattr(row, name) for name in self.answers}
        audit.record(actor=by, action=action, target=study, now=now, **about)


def _refuse_unseen(history: QuerySet[Row], seen: int | None, by: Any) -> None:
    """Refuse to replace what somebody else decided while a page was open."""
    if seen is not None and history.filter(pk__gt=seen).exclude(made_by=by).exists():
        raise DecisionRefused(
            "Somebody decided this while the page was open, see “Decisions”. Nothing was changed; do it again"
            " to replace theirs."
        )


def _retired(history: QuerySet[Row]) -> Row | None:
    """The decision that held until now."""
    row = history.filter(is_current=True).first()
    if row is not None:
        history.filter(pk=row.pk).update(is_current=False)
    return row
