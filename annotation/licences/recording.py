"""Licences on record: writing one down, whether it still holds, and what it says of a use elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from annotation.coverage.collect import labels_of_dataset
from annotation.licences.computing import Tested
from annotation.licences.plain import row_json
from annotation.licences.scope import Scope, expired, plain, scope_from
from annotation.models import CoverageLabel, JudgeLicence, Study
from benchmarks import audit
from benchmarks.models import Judge
from benchmarks.scoring.licence import Verdict


class JudgeIsGone(Exception):
    """The judge that was tested is not there any more."""


@transaction.atomic
def record(
    *, tested: Tested, data_version: str, study: Study | None, dataset: str, by: Any, now: datetime
) -> JudgeLicence:
    """Write a judge's licence down, in the place of an older one on the same labels.

    Raises:
        JudgeIsGone: the judge has been deleted.
    """
    judge = Judge.objects.filter(uid=tested.key).first()
    if judge is None:
        raise JudgeIsGone
    made: JudgeLicence = JudgeLicence.objects.create(
        judge=judge,
        study=study,
        dataset=dataset,
        absolute=tested.licence.absolute.verdict.value,
        ranking=tested.licence.ranking.verdict.value,
        scope=plain(tested.scope),
        figures=row_json(tested),
        data_version=data_version,
        made_by=by,
        made_at=now,
    )
    details = {"absolute": made.absolute, "ranking": made.ranking, "labels": study.name if study else dataset}
    audit.record(actor=by, action="licence.recorded", target=judge, now=now, **details)
    return made


@dataclass(frozen=True, slots=True)
class OnRecord:
    """A licence on record; `reasons` say why it does not hold, here or any more. It holds without any."""

    licence: JudgeLicence
    reasons: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether it says something of this use."""
        return not self.reasons

    @property
    def is_for_scores(self) -> bool:
        """Whether the judge may be used for absolute scores here."""
        return self.holds and self.licence.absolute == Verdict.SAFE

    @property
    def is_for_ranking(self) -> bool:
        """Whether the judge may be used to rank systems here."""
        return self.holds and self.licence.ranking == Verdict.SAFE


def recorded(tested: Tested, *, study: Study | None, dataset: str) -> OnRecord | None:
    """The newest licence of a judge, of any version, on these labels, and whether it still holds. One query."""
    judges = Judge.objects.filter(uid=tested.key).values("pk")
    latest = JudgeLicence.objects.of_judges(judges).filter(study=study, dataset=dataset).first()
    if latest is None:
        return None
    return OnRecord(latest, (*removed(latest), *expired(scope_from(latest.scope), tested.scope)))


def removed(licence: JudgeLicence) -> Iterable[str]:
    """That labels which a licence stood on are gone."""
    if licence.labels_removed_at is not None:
        yield _("labels that it stood on were removed on %(day)s") % {
            "day": date_format(licence.labels_removed_at, "SHORT_DATE_FORMAT")
        }


def other_settings(scope: Scope, judge: Judge) -> Iterable[str]:
    """Why a licence of another version of a judge says nothing of this one."""
    now = Scope(judge.name, judge.version, judge.config_sha256, scope.guidelines, scope.domains, None, None)
    return expired(scope, now)


def labels_go(labels: QuerySet[CoverageLabel], *, now: datetime) -> int:
    """Expire the licences that stand on labels which are about to go, and take their figures; how many.

    Figures of a few people's labels could say what those of one were, so a licence keeps its verdicts only.
    """
    with_labels = JudgeLicence.objects.filter(labels_removed_at=None)
    datasets = with_labels.filter(study=None).order_by().values_list("dataset", flat=True).distinct()
    touched = [name for name in datasets if labels_of_dataset(labels, name).exists()]
    gone = with_labels.filter(Q(study__in=labels.order_by().values("study")) | Q(study=None, dataset__in=touched))
    return gone.update(labels_removed_at=now, figures={})
