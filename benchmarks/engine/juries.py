"""Juries in the database: who is a member, what all members have judged, and the verdicts that follow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, QuerySet

from benchmarks.judges.base import digest
from benchmarks.judges.registry import Combined, JuryConfig, JuryRule, WrongJury, combine
from benchmarks.models import Judge, Subtopic, Summary, Verdict
from benchmarks.scoring.summhay import Coverage
from benchmarks.scoring.summhay import Verdict as MemberVerdict

Place = tuple[int, int]
"""A summary and an insight, by primary key."""


def members_of(jury: Judge) -> list[Judge]:
    """The judges of a jury, in the order of its configuration; one query.

    Raises:
        WrongJury: one of them is gone.
    """
    config = JuryConfig.from_mapping(jury.config)
    judges = {str(judge.uid): judge for judge in Judge.objects.filter(uid__in=config.members)}
    if gone := len(set(config.members) - set(judges)):
        raise WrongJury(f"{gone} of the {len(config.members)} members of {jury} are gone.")
    return [judges[uid] for uid in config.members]


def possible_members() -> QuerySet[Judge, Judge]:
    """Judges that can be in a jury: with verdicts on summaries, not archived, and no jury themselves."""
    verdicts = Verdict.objects.filter(judge=OuterRef("pk"))
    rows = Judge.objects.filter(Exists(verdicts), archived_at=None).exclude(kind=Judge.Kind.JURY)
    return rows.order_by("name", "-version")


def check_members(judges: Iterable[Judge]) -> None:
    """Refuse judges that cannot be in a jury.

    Raises:
        WrongJury: one is a jury itself, or archived.
    """
    for judge in judges:
        if judge.kind == Judge.Kind.JURY:
            raise WrongJury(f"{judge} is a jury itself; name its members.")
        if judge.archived_at is not None:
            raise WrongJury(f"{judge} was archived.")


def config_of(members: Sequence[Judge], rule: JuryRule) -> JuryConfig:
    """The configuration of a jury of these judges.

    Raises:
        WrongJury: one of them should count two thirds, and not exactly one is an offline judge.
    """
    offline = [str(judge.uid) for judge in members if judge.kind == Judge.Kind.LEXICAL]
    if rule is JuryRule.TWO_THIRDS and len(offline) != 1:
        raise WrongJury(f"By two thirds a jury has exactly one offline judge, not {len(offline)}.")
    uids = tuple(str(judge.uid) for judge in members)
    return JuryConfig.by_rule(uids, rule, offline=offline[0] if offline else "")


def have_common(members: Collection[Judge]) -> bool:
    """Whether there is an insight on which every member has an answer; one query."""
    rows = Verdict.objects.filter(judge__in=members, repeat=0).order_by().values("summary", "insight")
    return bool(rows.annotate(n=Count("judge")).filter(n=len(members)).exists())


def n_judged_by_all(*, jury: Judge, summaries: Collection[int]) -> dict[int, int]:
    """{summary pk: insights on which every member has an answer}; one query."""
    members = JuryConfig.from_mapping(jury.config).members
    rows = Verdict.objects.filter(judge__uid__in=members, summary__in=summaries, repeat=0).order_by()
    complete = rows.values_list("summary", "insight").annotate(n=Count("judge")).filter(n=len(members))
    counts: dict[int, int] = defaultdict(int)
    for summary, _insight, _n in complete:
        counts[summary] += 1
    return counts


def jury_verdicts(*, jury: Judge, summaries: Sequence[Summary]) -> list[Verdict]:
    """A jury's verdicts on summaries, not stored: of insights on which every member has an answer. Two queries.

    Where a member's answer cannot be used, nor can the jury's.
    """
    config, members = JuryConfig.from_mapping(jury.config), members_of(jury)
    answers: dict[Place, dict[int, Verdict]] = defaultdict(dict)
    verdicts = Verdict.objects.filter(judge__in=members, summary__in=summaries, repeat=0)
    for verdict in verdicts.order_by("summary", "insight"):
        answers[verdict.summary_id, verdict.insight_id][verdict.judge_id] = verdict
    return [
        _row(place, [by_judge[member.pk] for member in members], config)
        for place, by_judge in answers.items()
        if len(by_judge) == len(members)
    ]


def _row(place: Place, answers: Sequence[Verdict], config: JuryConfig) -> Verdict:
    usable = [
        MemberVerdict(Coverage(answer.coverage), tuple(answer.lines), answer.probabilities)
        for answer in answers
        if answer.is_valid and answer.coverage
    ]
    row = Verdict(summary_id=place[0], insight_id=place[1], is_linked=False, is_valid=False)
    row.input_sha256 = digest(
        [(answer.coverage, answer.lines, answer.p_partial, answer.p_full) for answer in answers]
    )
    if len(usable) < len(answers):
        row.raw = {"problem": "A member gave an answer that cannot be used."}
        return row
    _write(row, combine(usable, config))
    return row


def _write(row: Verdict, combined: Combined) -> None:
    row.coverage, row.lines, row.is_linked = combined.coverage.value, list(combined.lines), bool(combined.lines)
    row.p_partial, row.p_full = combined.probabilities.partial, combined.probabilities.full
    row.score = combined.probabilities.expected()
    row.is_valid, row.breaks_rule = True, combined.is_split


def names_of_haystack(key: str, source: str | None) -> frozenset[str]:
    """What a haystack may be called where a judge says what it was fitted on: its key, and its file's name."""
    return frozenset({key, (source or key).removeprefix("topic_")})


def fitted_haystacks(judges: Sequence[Judge]) -> dict[int, frozenset[str]]:
    """{judge pk: keys of the haystacks whose labels it, or a member of it, has seen}; at most two queries.

    It was fitted on them, or its prompt has examples of what people said there.
    """
    members = {judge.pk: judge.config["members"] for judge in judges if judge.kind == Judge.Kind.JURY}
    by_uid: dict[str, Judge] = {}
    if members:
        rows = Judge.objects.filter(uid__in={uid for uids in members.values() for uid in uids})
        by_uid = {str(judge.uid): judge for judge in rows}
    seen = _seen_by([*judges, *by_uid.values()])
    return {
        judge.pk: seen[judge.pk].union(
            *(seen[by_uid[uid].pk] for uid in members.get(judge.pk, ()) if uid in by_uid)
        )
        for judge in judges
    }


def _seen_by(judges: Collection[Judge]) -> dict[int, frozenset[str]]:
    """The same without what members have seen; a query where prompts have examples."""
    shown = {judge.pk: _subtopics_shown(judge) for judge in judges}
    haystack_of: dict[str, str] = {}
    if wanted := frozenset[str]().union(*shown.values()):
        rows = Subtopic.objects.filter(uid__in=wanted).values_list("uid", "haystack__key")
        haystack_of = {str(uid): key for uid, key in rows}
    return {
        judge.pk: frozenset(judge.config.get("fitted_on", ())).union(
            haystack_of[uid] for uid in shown[judge.pk] if uid in haystack_of
        )
        for judge in judges
    }


def _subtopics_shown(judge: Judge) -> frozenset[str]:
    """The public ids of the subtopics that examples in a judge's prompt are of."""
    examples = judge.config.get("examples") or {}
    return frozenset(row["subtopic"] for row in examples.get("bank", ()))


@dataclass(frozen=True)
class Overview:
    """What the page of a jury shows; `n_split` insights are covered without a bullet."""

    members: Sequence[Judge]
    config: JuryConfig
    n_verdicts: int
    n_split: int


def overview(jury: Judge) -> Overview:
    """Members, settings and counts; members that are gone are left out. Three queries."""
    config = JuryConfig.from_mapping(jury.config)
    members = list(Judge.objects.filter(uid__in=config.members))
    return Overview(members, config, jury.verdicts.count(), n_split(jury))


def n_split(jury: Judge) -> int:
    """Insights that a jury calls covered without a bullet, since its members link different bullets. One query."""
    return jury.verdicts.valid().exclude(coverage=Coverage.NONE.value).filter(is_linked=False).count()
