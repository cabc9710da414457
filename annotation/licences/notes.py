"""The licences of judges in a line each, for pages and files whose figures come from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, Value
from django.db.models.functions import Concat
from django.urls import reverse
from django.utils.formats import date_format

from annotation.coverage.collect import study_of_published_labels
from annotation.coverage.look import Look
from annotation.licences.computing import LICENCES, LicenceLook, Tested
from annotation.licences.recording import OnRecord, other_settings, removed
from annotation.licences.scope import outside, scope_from
from annotation.licences.sheet import VERDICTS
from annotation.licences.votes import said_of_jury
from annotation.models import CoverageLabel, JudgeLicence, Study
from benchmarks.models import Judge, Result
from benchmarks.results.judged import Judged, LicenceNote
from benchmarks.results.stored import newest
from benchmarks.scoring.licence import Verdict

OF_JUDGE = ("pk", "uid", "name", "version", "config_sha256")
OF_LICENCE = ("absolute", "ranking", "scope", "made_at", "dataset", "labels_removed_at")


class LicenceSource:
    """What pages of benchmarks are told of judges, too."""

    def licence_notes(self, judged: Judged, reader: Any) -> Sequence[LicenceNote]:
        """One for each judge, in the order in which they are named.

        One query, two more where tests are stored and one has no licence on record.
        """
        judges, licences, has_tests = _read(judged, reader)
        by_key: dict[str | int, Judge] = {}
        for judge in judges:
            by_key |= {judge.pk: judge, str(judge.uid): judge, str(judge): judge}
        of_coverage = dict.fromkeys(by_key[key] for key in judged.judges if key in by_key)
        others = dict.fromkeys(by_key[key] for key in judged.others if key in by_key)
        notes = {judge: _licence_note(judge, licences.get(judge.name, ()), judged) for judge in of_coverage}
        untold = [judge for judge, note in notes.items() if has_tests and not note.is_on_record]
        return [
            *(notes | _of_tests(untold, judged, reader)).values(),
            *(_of_others(judge) for judge in others if judge not in of_coverage),
        ]

    def votes(self, jury: Judge, reader: Any) -> str:
        """As how many independent judges a jury counts."""
        return said_of_jury(jury, reader)


@dataclass(frozen=True, slots=True)
class _Written:
    """A licence of a version of a judge, and where it stands; no address for whoever may not see it."""

    licence: JudgeLicence
    url: str


def _read(judged: Judged, reader: Any) -> tuple[list[Judge], dict[str, list[_Written]], bool]:
    """Every version of the judges, their licences by name, the newest first, and whether tests are stored.

    One query.
    """
    rows: Any = Judge.objects.filter(name__in=_named((*judged.judges, *judged.others))).order_by("pk")
    rows = rows.annotate(has_tests=Exists(Result.objects.filter(name=LICENCES.name).exclude(version="")))
    columns = (
        "has_tests",
        *OF_JUDGE,
        "licences__pk",
        "licences__study__uid",
        *(f"licences__{name}" for name in OF_LICENCE),
    )
    if reader is None:
        rows, may_see = rows.values_list(*columns), True
    else:
        rows, may_see = rows.annotate(may_see=_may_see(reader)).values_list(*columns, "may_see"), False
    judges: dict[int, Judge] = {}
    licences: dict[str, list[_Written]] = {}
    has_tests = False
    for stored, *row in rows:
        has_tests = stored
        judge = Judge(**dict(zip(OF_JUDGE, row, strict=False)))
        judges.setdefault(judge.pk, judge)
        pk, study, *values = row[len(OF_JUDGE) : len(columns) - 1]
        if pk is not None:
            licence = JudgeLicence(pk=pk, judge=judge, **dict(zip(OF_LICENCE, values, strict=True)))
            url = _url(judge, study, licence.dataset) if may_see or row[-1] else ""
            licences.setdefault(judge.name, []).append(_Written(licence, url))
    for of_judge in licences.values():
        of_judge.sort(key=lambda written: (written.licence.made_at, written.licence.pk), reverse=True)
    return list(judges.values()), licences, has_tests


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
    """Whether a reader may see the labels that a licence stands on, as an expression over judges with licences."""
    studies = Study.objects.readable_by(reader)
    name = OuterRef("licences__dataset")
    published = Concat(name, Value(study_of_published_labels("")))
    labels = CoverageLabel.objects.filter(study__in=studies.order_by().values("pk"))
    of_dataset = labels.filter(Q(summary__haystack__dataset=name) | Q(study__name=published))
    without_study = Q(licences__isnull=False) & Q(licences__study=None)  # first, as labels are many
    return Exists(studies.filter(pk=OuterRef("licences__study"))) | (without_study & Exists(of_dataset))


def _url(judge: Judge, study: UUID | None, dataset: str) -> str:
    if study is None:
        return f"{reverse('annotation:licences')}?{urlencode({'dataset': dataset, 'judge': judge.uid})}"
    return f"{reverse('annotation:study-licences', args=[study])}?{urlencode({'judge': judge.uid})}"


def _licence_note(judge: Judge, written: Sequence[_Written], judged: Judged) -> LicenceNote:
    """What one of the licences says of a use: one that holds goes before one that does not, then the newest."""
    name = str(judge)
    if not written:
        words = "%(judge)s has no licence: nobody recorded whether it may stand in for people."
        return LicenceNote(name, words % {"judge": name}, reverse("annotation:agreement"))
    options = [
        (OnRecord(written_licence.licence, _reasons(written_licence.licence, judge, judged)), written_licence.url)
        for written_licence in written
    ]
    record, url = min(options, key=lambda option: not option[0].holds)
    day = date_format(record.licence.made_at, "SHORT_DATE_FORMAT")
    if not record.holds:
        words = "%(judge)s has a licence of %(day)s that does not hold here: %(why)s."
        words = words % {"judge": name, "day": day, "why": "; ".join(record.reasons)}
        return LicenceNote(name, words, url, is_on_record=True)
    holds = record.is_for_ranking or record.is_for_scores
    return LicenceNote(name, _in_words(name, record, day), url, is_on_record=True, holds=holds)


def _of_tests(judges: Sequence[Judge], judged: Judged, reader: Any) -> dict[Judge, LicenceNote]:
    """What stored tests found of judges for this use, where nobody recorded it: the newest test of each."""
    notes: dict[Judge, LicenceNote] = {}
    tests = list(newest(LICENCES, _is_of_all)) if judges else []
    pks = {pk for look, _figures, _at in tests for pk in _studies_of(look)}
    seen = Study.objects if reader is None else Study.objects.readable_by(reader)
    studies = {study.pk: study for study in seen.filter(pk__in=pks)} if pks else {}
    for look, figures, at in tests:
        for judge in judges:
            tested = next((row for row in figures.rows if row.key == str(judge.uid)), None)
            is_for_use = tested and not (*other_settings(tested.scope, judge), *outside(tested.scope, judged))
            if tested is None or not is_for_use or judge in notes:
                continue
            study = studies.get(look.labels.study or 0)
            may_see = studies.keys() >= set(_studies_of(look))
            url = _url(judge, study and study.uid, look.labels.dataset) if may_see else ""
            notes[judge] = _test_note(judge, tested, at, url)
    return notes


def _test_note(judge: Judge, tested: Tested, at: datetime, url: str) -> LicenceNote:
    """What is said of a judge that was tested."""
    uses = (tested.licence.absolute.verdict, tested.licence.ranking.verdict)
    words = (f"{judge} was tested on {date_format(at, 'SHORT_DATE_FORMAT')} (absolute scores: {_why(uses[0])}; "
    f"ranking: {_why(uses[1])}); nobody recorded a licence.")  # fmt: skip
    return LicenceNote(str(judge), words, url, is_on_record=True, is_found_safe=Verdict.SAFE in uses)


def _is_of_all(look: LicenceLook) -> bool:
    """Whether a test is of all labels of a study or data set, at the usual thresholds."""
    labels = replace(look.labels, study=None, studies=(), dataset="", is_public=False)
    return look == LicenceLook(look.labels) and labels == Look()


def _studies_of(look: LicenceLook) -> tuple[int, ...]:
    return look.labels.studies if look.labels.study is None else (look.labels.study,)


def _of_others(judge: Judge) -> LicenceNote:
    """What is said of a judge of something else than coverage."""
    words = "%(judge)s has no licence for these figures: licences are tested on labels of coverage."
    return LicenceNote(str(judge), words % {"judge": judge})


def _reasons(licence: JudgeLicence, judge: Judge, judged: Judged) -> tuple[str, ...]:
    scope = scope_from(licence.scope)
    return (*removed(licence), *other_settings(scope, judge), *outside(scope, judged))


def _in_words(judge: str, record: OnRecord, day: str) -> str:
    """What a licence that holds says."""
    named = {"judge": judge, "day": day}
    if record.is_for_scores and record.is_for_ranking:
        return "%(judge)s has a licence of %(day)s for absolute scores and for ranking." % named
    if record.is_for_ranking:
        return "%(judge)s has a licence of %(day)s for ranking, none for absolute scores (%(why)s)." % {
            **named, "why": _why(record.licence.absolute),
        }  # fmt: skip
    if record.is_for_scores:
        return "%(judge)s has a licence of %(day)s for absolute scores, none for ranking (%(why)s)." % {
            **named, "why": _why(record.licence.ranking),
        }  # fmt: skip
    return ("%(judge)s was tested on %(day)s and has no licence (absolute scores: %(scores)s; ranking: "
             "%(ranking)s).") % {
        **named, "scores": _why(record.licence.absolute), "ranking": _why(record.licence.ranking),
    }  # fmt: skip


def _why(verdict: str) -> str:
    return str(VERDICTS[Verdict(verdict)])
