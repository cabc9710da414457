"""Judges, juries and summarizers as rows: a version never changes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Max, QuerySet

from benchmarks import audit
from benchmarks.access.owning import NotYours, may_add
from benchmarks.engine import juries
from benchmarks.judges import registry
from benchmarks.judges.questions import ModelConfig
from benchmarks.judges.registry import JuryRule, WrongJury
from benchmarks.models import (
    Generator,
    Judge,
    Summarizer,
    System,
)
from benchmarks.summarizers.config import EXTRACTIVE, ExtractiveConfig, SummarizerConfig

VERSIONED = re.compile(r"(.+) v(\d{1,9})", re.DOTALL)


def judges_called(name: str, among: QuerySet[Judge, Judge] | None = None) -> list[Judge]:
    """Every version of a name, the newest first, or the one version that is named; at most two queries."""
    judges = Judge.objects.all() if among is None else among
    named = list(judges.filter(name=name).order_by("-version"))
    versioned = VERSIONED.fullmatch(name)
    if named or versioned is None:
        return named
    return list(judges.filter(name=versioned[1], version=int(versioned[2])))


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


def default_digest() -> str:
    """The hash of the configuration of the default judge."""
    return config_hash(registry.default_config())


def default_judge(*, now: datetime) -> Judge:
    """Return the better offline judge as the code of today configures it."""
    return offline_judge(name=OFFLINE, now=now)


def offline_judge(*, name: str, now: datetime) -> Judge:
    """Return one of the offline judges as the code of today configures it, by its name in the registry."""
    return ensure_judge(name=name, kind=Judge.Kind.LEXICAL, config=registry.OFFLINE[name], now=now)


@transaction.atomic
def save_judge(*, name: str, config: ModelConfig, note: str, by: Any, now: datetime) -> Judge:
    """A model judge, or the next version of it when the configuration differs.

    Raises:
        NotYours: somebody else has a judge of this name.
    """
    judge = ensure_judge(name=name, kind=Judge.Kind.OPENAI, config=config.as_mapping(), note=note, by=by, now=now)
    audit.record(actor=by, action="judge.saved", target=judge, now=now, version=judge.version)
    return judge


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
    juries.check_members(members)
    config = juries.config_of(members, rule)
    if name in registry.OFFLINE or Judge.objects.filter(name=name).exclude(kind=Judge.Kind.JURY).exists():
        raise WrongJury(f"“{name}” is the name of a judge of another kind.")
    if must_judge and not juries.have_common(members):
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


@transaction.atomic
def save_summarizer(*, name: str, config: SummarizerConfig, note: str, by: Any, now: datetime) -> Judge:
    """A summarizer that is a model, or the next version of it when the configuration differs.

    Raises:
        NotPossible: the name is taken.
        NotYours: somebody else has a summarizer of this name.
    """
    check_name(name)
    saved = ensure_judge(
        name=name,
        kind=Judge.Kind.OPENAI,
        config=config.as_mapping(),
        note=note,
        now=now,
        role=Judge.Role.SUMMARIZER,
        by=by,
    )
    audit.record(actor=by, action="summarizer.saved", target=saved, now=now, version=saved.version)
    return saved


def save_variant(*, of: Judge, config: SummarizerConfig, decoding: str, by: Any, now: datetime) -> Judge:
    """The summarizer with another method or decoding, under a name that says so; raises as `save_summarizer`.

    The plain name stays that of the summarizer as it was saved.
    """
    method = "" if of.config.get("method") == config.method else config.method
    said = ", ".join(each for each in (method, decoding) if each)
    return save_summarizer(name=f"{of.name} ({said})", config=config, note=of.note, by=by, now=now)


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
