"""Judges, juries with their members and verdicts, and summarizers as rows: a version never changes."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, QuerySet

from benchmarks import audit
from benchmarks.access.owning import NotYours, may_add
from benchmarks.judges import registry
from benchmarks.judges.base import digest
from benchmarks.judges.questions import ModelConfig
from benchmarks.judges.registry import JuryConfig, JuryRule, WrongJury, combine
from benchmarks.models import Generator, Judge, ModelFamily, Subtopic, Summarizer, Summary, System, Verdict
from benchmarks.scoring.summhay import Coverage
from benchmarks.scoring.summhay import Verdict as MemberVerdict
from benchmarks.summarizers.config import EXTRACTIVE, ExtractiveConfig, SummarizerConfig
from benchmarks.system_names import family_of

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


def n_judged_by_all(*, jury: Judge, summaries: Collection[int]) -> dict[int, int]:
    """{summary pk: insights on which every member has an answer}; one query."""
    members = JuryConfig.from_mapping(jury.config).members
    rows = Verdict.objects.filter(judge__uid__in=members, summary__in=summaries, repeat=0).order_by()
    complete = rows.values_list("summary", "insight").annotate(n=Count("judge")).filter(n=len(members))
    return Counter(summary for summary, _insight, _n in complete)


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
    combined = combine(usable, config)
    row.coverage, row.lines, row.is_linked = combined.coverage.value, list(combined.lines), bool(combined.lines)
    row.p_partial, row.p_full = combined.probabilities.partial, combined.probabilities.full
    row.score = combined.probabilities.expected()
    row.is_valid, row.breaks_rule = True, combined.is_split
    return row


def names_of_haystack(key: str, source: str | None) -> frozenset[str]:
    """Names of a haystack where a judge says what it was fitted on: its key, and its file's name."""
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
    shown = {
        judge.pk: frozenset(row["subtopic"] for row in (judge.config.get("examples") or {}).get("bank", ()))
        for judge in judges
    }
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


def n_split(jury: Judge) -> int:
    """Insights that a jury calls covered without a bullet, since its members link different bullets. One query."""
    return jury.verdicts.valid().exclude(coverage=Coverage.NONE.value).filter(is_linked=False).count()


VERSIONED = re.compile(r"(.+) v(\d{1,9})", re.DOTALL)


def name_and_version(called: str) -> tuple[str, int]:
    """A judge's name and version, of which “NAME v2” is made; version 1 where none is said."""
    versioned = VERSIONED.fullmatch(called)
    return (versioned[1], int(versioned[2])) if versioned else (called, 1)


def judges_called(name: str, among: QuerySet[Judge, Judge] | None = None) -> list[Judge]:
    """Every version of a name, the newest first, or the one version that is named; at most two queries."""
    judges = Judge.objects.all() if among is None else among
    named = list(judges.filter(name=name).order_by("-version"))
    name, version = name_and_version(name)
    return named or list(judges.filter(name=name, version=version))


OFFLINE = registry.DEFAULT
"""The name of the default judge."""
OF_ROLE: dict[str, type[Judge]] = {Judge.Role.SUMMARIZER: Summarizer, Judge.Role.GENERATOR: Generator}


def config_hash(config: Mapping[str, Any]) -> str:
    """Hash a judge's configuration, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(config, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def ensure_judge(
    *,
    name: str,
    kind: str,
    config: Mapping[str, Any],
    now: datetime,
    note: str = "",
    role: str = Judge.Role.JUDGE,
    by: Any = None,
) -> Judge:
    """Return the judge or summarizer of this name and configuration; a new configuration is a new version.

    Where there is one already it takes no turn to write, so that pages may ask.

    Raises:
        NotYours: there are versions of this name, none of them made by `by`.
    """
    digest = config_hash(config)
    versions = OF_ROLE.get(role, Judge).objects.filter(name=name)
    same = versions.filter(kind=kind, config_sha256=digest)
    known: Judge | None = same.first()
    if known is not None:
        return known
    with transaction.atomic():
        if (known := same.first()) is not None:
            return known
        latest = versions.aggregate(latest=Max("version"))["latest"] or 0
        if latest and not may_add(by, versions):
            raise NotYours(f"Somebody else made “{name}”. They or an admin can change it; choose another name.")
        made: Judge = versions.create(
            role=role,
            name=name,
            version=latest + 1,
            kind=kind,
            config=dict(config),
            config_sha256=digest,
            note=note,
            created_by=by,
            created_at=now,
        )
        return made


def default_judge(*, now: datetime) -> Judge:
    """Return the better offline judge as the code of today configures it."""
    return offline_judge(name=OFFLINE, now=now)


def offline_judge(*, name: str, now: datetime) -> Judge:
    """Return one of the offline judges as the code of today configures it, by its name in the registry."""
    return ensure_judge(name=name, kind=Judge.Kind.LEXICAL, config=registry.OFFLINE[name], now=now)


@transaction.atomic
def save_model(*, name: str, config: ModelConfig, note: str = "", by: Any, now: datetime) -> Judge:
    """A judge or a summarizer that is a model, or its next version when the configuration differs.

    Raises:
        NotPossible: a summarizer cannot have the name.
        NotYours: somebody else has one of this name.
    """
    role = Judge.Role.SUMMARIZER if isinstance(config, SummarizerConfig) else Judge.Role.JUDGE
    if role == Judge.Role.SUMMARIZER:
        check_name(name)
    saved = ensure_judge(
        name=name, kind=Judge.Kind.OPENAI, config=config.as_mapping(), note=note, role=role, by=by, now=now
    )
    audit.record(actor=by, action=f"{role}.saved", target=saved, now=now, version=saved.version)
    return saved


@transaction.atomic
def set_published_cost(*, judge: Judge, dollars: Decimal | None, by: Any, now: datetime) -> None:
    """Write what the verdicts of an imported judge cost whoever published them; None takes it back.

    Raises:
        ValueError: the judge was not imported, so its calls tell what it cost.
    """
    if judge.kind != Judge.Kind.IMPORTED:
        raise ValueError(f"{judge} was not imported.")
    judge.published_cost = dollars
    judge.save(update_fields=["published_cost"])
    audit.record(
        actor=by, action="judge.cost_set", target=judge, now=now, cost="" if dollars is None else str(dollars)
    )


@transaction.atomic
def set_family(*, model: str, family: str, by: Any, now: datetime) -> None:
    """Write which family a model is of; that of its name, or an empty one, leaves it to its name."""
    family = family.strip().casefold()
    defaults = {"family": "" if family == family_of(model) else family}
    row, _is_new = ModelFamily.objects.update_or_create(
        model=model, defaults=defaults, create_defaults={**defaults, "created_by": by}
    )
    audit.record(actor=by, action="model.family_set", target=row, now=now, family=family)


@transaction.atomic
def save_jury(
    *,
    name: str,
    members: Sequence[Judge],
    rule: JuryRule = JuryRule.LABEL,
    now: datetime,
    by: Any = None,
    note: str = "",
    must_judge: bool = False,
) -> Judge:
    """A jury of these judges, or the next version of it when they or the rule differ.

    Raises:
        WrongJury: these judges make no jury, it has no name or that of a judge of another kind, or, where it
            `must_judge` at once, there is nothing yet that all members have judged.
        NotYours: somebody else has a jury of this name.
    """
    name = name.strip()
    if not 1 <= len(name) <= 120:
        raise WrongJury("A jury has a name of 1 to 120 characters.")
    check_members(members)
    config = config_of(members, rule)
    if name in registry.OFFLINE or Judge.objects.filter(name=name).exclude(kind=Judge.Kind.JURY).exists():
        raise WrongJury(f"“{name}” is the name of a judge of another kind.")
    answered = Verdict.objects.filter(judge__in=members, repeat=0).order_by().values("summary", "insight")
    if must_judge and not answered.annotate(n=Count("judge")).filter(n=len(members)).exists():
        raise WrongJury("No insight was judged by all of its members; run them first (run_judge).")
    jury = ensure_judge(name=name, kind=Judge.Kind.JURY, config=config.as_mapping(), note=note, by=by, now=now)
    if by is not None:
        audit.record(actor=by, action="judge.saved", target=jury, now=now, version=jury.version)
    return jury


WITHOUT_TOP_K = ("openai.com", "openai.azure.com")
"""Hosts, with those below them, that refuse a request with top-k."""
LONGEST_KEY = 200


class NotPossible(ValueError):
    """This summarizer cannot be saved or run like this; the message says why and can be shown."""


# Summarizers


def extractive(*, now: datetime) -> Judge:
    """The offline baseline as the code of today configures it."""
    config = ExtractiveConfig().as_mapping()
    return ensure_judge(
        name=EXTRACTIVE, kind=Judge.Kind.LEXICAL, config=config, now=now, role=Judge.Role.SUMMARIZER
    )


def save_variant(*, of: Judge, config: SummarizerConfig, decoding: str, by: Any, now: datetime) -> Judge:
    """The summarizer with another method or decoding, under a name that says so; raises as `save_model`.

    The plain name stays that of the summarizer as it was saved.
    """
    method = "" if of.config.get("method") == config.method else config.method
    said = ", ".join(each for each in (method, decoding) if each)
    return save_model(name=f"{of.name} ({said})", config=config, note=of.note, by=by, now=now)


def check_name(name: str) -> None:
    """Refuse names under which leaderboards show something else.

    Raises:
        NotPossible: the offline baseline or an imported system has the name.
    """
    if name == EXTRACTIVE:
        raise NotPossible(f"“{name}” is the name of the offline baseline.")
    is_known = Summarizer.objects.filter(name=name).exists()
    if not is_known and System._base_manager.filter(summarizer=name).exists():  # whoever sees it
        raise NotPossible(f"An imported system is called “{name}”. Choose another name.")


def check_decoding(config: SummarizerConfig) -> None:
    """Refuse what the server is known not to take, before anything is asked and paid.

    Raises:
        NotPossible: top-k for a server of OpenAI, whose API has no such field.
    """
    host = urlsplit(config.base_url).hostname or ""
    if config.top_k is not None and any(host == name or host.endswith(f".{name}") for name in WITHOUT_TOP_K):
        raise NotPossible(f"{host} takes no top-k. Leave it blank, or ask another server.")
