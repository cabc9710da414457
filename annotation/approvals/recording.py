"""Approvals on record: given and taken back, and what notes beside figures say of judges and juries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from annotation.approvals.computing import (
    APPROVALS,
    ApprovalLook,
    Scope,
    Tested,
    Votes,
    expired,
    outside,
    plain,
    row_json,
    scope_from,
    votes_of,
)
from annotation.approvals.sheet import votes_in_words
from annotation.coverage.collect import coverage_table, data_version, labels_of_dataset, study_of_published_labels
from annotation.coverage.look import Look
from annotation.coverage.systems import human_worth
from annotation.models import CoverageLabel, JudgeApproval, Study
from annotation.results.judges import MEAN
from benchmarks import audit
from benchmarks.models import Judge, Result, Verdict
from benchmarks.results.computation import CannotCompute, Computation, register
from benchmarks.results.judged import ApprovalNote, Judged
from benchmarks.results.stored import look_up, newest
from benchmarks.scoring.approval import Verdict as Finding


class CannotRecord(Exception):
    """A test that nothing can be written down of; the message says why."""


@transaction.atomic
def record(
    *, tested: Tested, data_version: str, study: Study | None, dataset: str, by: Any, now: datetime
) -> JudgeApproval:
    """Write a judge's approval down, in the place of an older one on the same labels.

    Raises:
        CannotRecord: the judge has been deleted, or there is not enough data to say anything of it.
    """
    judge = Judge.objects.filter(uid=tested.key).first()
    if judge is None:
        raise CannotRecord("This judge is not there any more.")
    if not tested.is_decided:
        raise CannotRecord("There is not enough data to approve this judge, or to refuse it.")
    made: JudgeApproval = JudgeApproval.objects.create(
        judge=judge,
        study=study,
        dataset=dataset,
        absolute=tested.approval.absolute.verdict.value,
        ranking=tested.approval.ranking.verdict.value,
        scope=plain(tested.scope),
        figures=row_json(tested),
        data_version=data_version,
        made_by=by,
        made_at=now,
    )
    details = {"absolute": made.absolute, "ranking": made.ranking, "labels": study.name if study else dataset}
    audit.record(actor=by, action="approval.recorded", target=judge, now=now, **details)
    return made


@dataclass(frozen=True, slots=True)
class OnRecord:
    """An approval on record; `reasons` say why it does not hold, here or any more. It holds without any."""

    approval: JudgeApproval
    reasons: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.reasons


def recorded(tested: Tested, *, study: Study | None, dataset: str) -> OnRecord | None:
    """The newest approval of a judge, of any version, on these labels, and whether it still holds. One query."""
    judges = Judge.objects.filter(uid=tested.key).values("pk")
    latest = JudgeApproval.objects.of_judges(judges).filter(study=study, dataset=dataset).first()
    if latest is None:
        return None
    return OnRecord(latest, (*removed(latest), *expired(scope_from(latest.scope), tested.scope)))


def removed(approval: JudgeApproval) -> Iterable[str]:
    """That labels which an approval stood on are gone."""
    if approval.labels_removed_at is not None:
        day = date_format(approval.labels_removed_at, "SHORT_DATE_FORMAT")
        yield f"labels that it stood on were removed on {day}"


def other_settings(scope: Scope, judge: Judge) -> Iterable[str]:
    """Why an approval of another version of a judge says nothing of this one."""
    now = Scope(judge.name, judge.version, judge.config_sha256, scope.guidelines, scope.domains, None, None)
    return expired(scope, now)


def labels_go(labels: QuerySet[CoverageLabel], *, now: datetime) -> int:
    """Expire the approvals that stand on labels which are about to go, and take their figures; how many.

    Figures of a few people's labels could say what those of one were, so an approval keeps its verdicts only.
    """
    with_labels = JudgeApproval.objects.filter(labels_removed_at=None)
    datasets = with_labels.filter(study=None).order_by().values_list("dataset", flat=True).distinct()
    touched = [name for name in datasets if labels_of_dataset(labels, name).exists()]
    gone = with_labels.filter(Q(study__in=labels.order_by().values("study")) | Q(study=None, dataset__in=touched))
    return gone.update(labels_removed_at=now, figures={})


class ApprovalSource:
    def approval_notes(self, judged: Judged, reader: Any) -> Sequence[ApprovalNote]:
        """One for each judge, in the order in which they are named.

        One query, one more for approvals on record, two where tests are stored and one has no such approval.
        """
        rows = Judge.objects.filter(name__in=_named((*judged.judges, *judged.others))).annotate(
            has_approvals=Exists(JudgeApproval.objects.filter(judge=OuterRef("pk"))),
            has_tests=Exists(Result.objects.filter(name=APPROVALS.name).exclude(version="")),
        )
        judges: list[Any] = list(rows.order_by("pk"))
        approvals = _on_record([judge for judge in judges if judge.has_approvals], reader)
        by_key: dict[str | int, Any] = {}
        for judge in judges:
            by_key |= {judge.pk: judge, str(judge.uid): judge, str(judge): judge}
        of_coverage = dict.fromkeys(by_key[key] for key in judged.judges if key in by_key)
        others = dict.fromkeys(by_key[key] for key in judged.others if key in by_key)
        notes = {judge: _approval_note(judge, approvals.get(judge.name, ()), judged) for judge in of_coverage}
        untold = [
            judge
            for judge, note in notes.items()
            if judge.has_tests and (note.is_expired or not note.is_on_record)
        ]
        no_test = "%s cannot be approved for these figures: approvals are tested on labels of coverage."
        return [
            *(notes | _of_tests(untold, judged, reader)).values(),
            *(ApprovalNote(str(judge), no_test % judge) for judge in others if judge not in of_coverage),
        ]

    def approved(self, judged: Judged) -> set[str]:
        """All judges that are approved for these data, whatever scores they would give. One query."""
        latest: dict[str, JudgeApproval] = {}
        rows = JudgeApproval.objects.filter(judge__archived_at=None).select_related("judge").defer("figures")
        for approval in rows:
            if not _reasons(approval, approval.judge, replace(judged, scores=())):
                latest.setdefault(str(approval.judge), approval)
        return {name for name, its in latest.items() if Finding.SAFE in {its.absolute, its.ranking}}

    def votes(self, jury: Judge, reader: Any) -> str:
        studies = Study.objects.readable_by(reader).of_coverage().order_by("pk")
        look = VotesLook(jury.pk, tuple(studies.values_list("pk", flat=True)))
        votes = look_up(JURY_VOTES, look, now=timezone.now()).figures
        if votes is None:
            return "This is being computed."
        if votes.votes is None:
            return "Not known: people have labelled nothing, or too little, that all of its members judged."
        return votes_in_words(votes.votes)


def _on_record(judges: Sequence[Judge], reader: Any) -> dict[str, list[Any]]:
    """The approvals of judges by name, of every version, the newest first, each with `may_see`. One query."""
    rows = JudgeApproval.objects.of_judges([judge.pk for judge in judges]).defer("figures")
    by_name: dict[str, list[Any]] = defaultdict(list)
    for approval in rows.annotate(may_see=Value(True) if reader is None else _may_see(reader)):
        by_name[approval.judge.name].append(approval)
    return by_name


def _named(keys: Iterable[str | int]) -> Any:
    """The names of judges by their keys, as a query."""
    pks, uids, names = [], [], set[str]()
    for key in keys:
        if isinstance(key, int):
            pks.append(key)
            continue
        with suppress(ValueError):
            uids.append(UUID(key))
        names |= {key, key.rpartition(" v")[0]}
    judges = Judge.objects.filter(Q(pk__in=pks) | Q(uid__in=uids) | Q(name__in=names - {""}))
    return judges.order_by().values("name")


def _may_see(reader: Any) -> Any:
    """Whether a reader may see the labels that an approval stands on, as an expression over approvals."""
    studies = Study.objects.readable_by(reader)
    name = OuterRef("dataset")
    published = Concat(name, Value(study_of_published_labels("")))
    labels = CoverageLabel.objects.filter(study__in=studies.order_by().values("pk"))
    of_dataset = labels.filter(Q(summary__haystack__dataset=name) | Q(study__name=published))
    return Exists(studies.filter(pk=OuterRef("study"))) | (Q(study=None) & Exists(of_dataset))  # labels are many


def url_of(judge: Judge, study: UUID | None, dataset: str) -> str:
    """Where a judge is tested on the labels of a study, or of a data set in all studies."""
    if study is None:
        return f"{reverse('annotation:approvals')}?{urlencode({'dataset': dataset, 'judge': judge.uid})}"
    return f"{reverse('annotation:study-approvals', args=[study])}?{urlencode({'judge': judge.uid})}"


def _approval_note(judge: Judge, approvals: Sequence[Any], judged: Judged) -> ApprovalNote:
    """Note of one approval on a use: one that holds goes before one that does not, then the newest."""
    name = str(judge)
    if not approvals:
        words = f"{name} is not approved: no test of it against people is on record."
        return ApprovalNote(name, words, reverse("annotation:approval-test", args=[judge.uid]))
    records = [OnRecord(approval, _reasons(approval, judge, judged)) for approval in approvals]
    record = min(records, key=lambda record: not record.holds)
    approval: Any = record.approval
    study = approval.study and approval.study.uid
    url = url_of(approval.judge, study, approval.dataset) if approval.may_see else ""
    day = date_format(approval.made_at, "SHORT_DATE_FORMAT")
    if not record.holds:
        words = f"{name} was tested on {day}, which does not hold here: {'; '.join(record.reasons)}."
        return ApprovalNote(name, words, url, is_on_record=True, is_expired=True)
    uses = (approval.absolute, approval.ranking)
    holds = Finding.SAFE in uses
    words = f"{name} is {'' if holds else 'not '}approved: {_for_uses(*uses)} (tested on {day})."
    return ApprovalNote(name, words, url, is_on_record=True, holds=holds)


def _of_tests(judges: Sequence[Judge], judged: Judged, reader: Any) -> dict[Judge, ApprovalNote]:
    """Notes of stored tests of judges for this use, where nobody recorded it: the newest test of each.

    One that found a judge safe holds for what it tested; one that did not is told of every use.
    """
    notes: dict[Judge, ApprovalNote] = {}
    tests = list(newest(APPROVALS, _is_of_all)) if judges else []
    pks = {pk for look, _figures, _at in tests for pk in _studies_of(look)}
    seen = Study.objects if reader is None else Study.objects.readable_by(reader)
    studies = {study.pk: study for study in seen.filter(pk__in=pks)} if pks else {}
    for look, figures, at in tests:
        for judge in judges:
            tested = next((row for row in figures.rows if row.key == str(judge.uid)), None)
            if tested is None or judge in notes or any(other_settings(tested.scope, judge)):
                continue
            uses = (tested.approval.absolute.verdict, tested.approval.ranking.verdict)
            is_safe = Finding.SAFE in uses
            if is_safe and any(outside(tested.scope, judged)):
                continue
            study = studies.get(look.labels.study or 0)
            may_see = studies.keys() >= set(_studies_of(look))
            url = url_of(judge, study and study.uid, look.labels.dataset) if may_see else ""
            day = date_format(at, "SHORT_DATE_FORMAT")
            words = f"{judge} was tested on {day}: {_for_uses(*uses)}{' (not recorded)' if is_safe else ''}."
            notes[judge] = ApprovalNote(str(judge), words, url, is_on_record=True, is_found_safe=is_safe)
    return notes


def _is_of_all(look: ApprovalLook) -> bool:
    """Whether a test is of all labels of a study or data set, at the usual thresholds."""
    labels = replace(look.labels, study=None, studies=(), dataset="", is_public=False)
    return look == ApprovalLook(look.labels) and labels == Look()


def _studies_of(look: ApprovalLook) -> tuple[int, ...]:
    return look.labels.studies if look.labels.study is None else (look.labels.study,)


def _reasons(approval: JudgeApproval, judge: Judge, judged: Judged) -> tuple[str, ...]:
    scope = scope_from(approval.scope)
    return (*removed(approval), *other_settings(scope, judge), *outside(scope, judged))


def _for_uses(absolute: str, ranking: str) -> str:
    """The answers for both uses in a row."""
    if absolute == ranking:
        return f"{absolute} for absolute scores and for ranking"
    return f"{absolute} for absolute scores, {ranking} for ranking"


@dataclass(frozen=True, slots=True)
class VotesLook:
    """Options: a jury, and the studies whose labels count, by primary key."""

    jury: int
    studies: tuple[int, ...]

    @property
    def labels(self) -> Any:
        judged = Verdict.objects.filter(judge=self.jury).order_by().values("summary")
        return CoverageLabel.objects.filter(study__in=self.studies, summary__in=judged)


@dataclass(frozen=True, slots=True)
class JuryVotes:
    """The votes of a jury, None where people have labelled too little of what all of its members judged."""

    votes: Votes | None


def _compute(look: VotesLook) -> JuryVotes:
    jury = Judge.objects.filter(pk=look.jury).first()
    if jury is None:
        raise CannotCompute("This judge is gone.")
    table = coverage_table(look.labels)
    if not len(table.codes):
        return JuryVotes(None)
    human = human_worth(table, MEAN)
    errors = {judge.key: table.worth_of_judge(at) - human for at, judge in enumerate(table.judges)}
    return JuryVotes(votes_of(jury, errors))


def _facts(look: VotesLook) -> object:
    jury = Judge.objects.filter(pk=look.jury).values_list("kind", "config_sha256")
    return data_version(look.labels), list(jury)


JURY_VOTES = register(
    Computation("jury-votes", options=VotesLook, figures=JuryVotes, compute=_compute, facts=_facts)
)
