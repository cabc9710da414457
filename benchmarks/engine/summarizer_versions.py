"""Summarizers as rows: each set of settings is a version, and a version never changes."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction

from benchmarks import audit
from benchmarks.engine import judge_versions
from benchmarks.models import (
    Judge,
    Summarizer,
    System,
)
from benchmarks.summarizers.config import EXTRACTIVE, ExtractiveConfig, SummarizerConfig

WITHOUT_TOP_K = ("openai.com", "openai.azure.com")
"""Hosts, with those below them, that refuse a request with top-k."""
LONGEST_KEY = 200


class NotPossible(ValueError):
    """This summarizer cannot be saved or run like this; the message says why and can be shown."""


# Summarizers


def extractive(*, now: datetime) -> Judge:
    """The offline baseline as the code of today configures it."""
    config = ExtractiveConfig().as_mapping()
    return judge_versions.ensure_judge(
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
    saved = judge_versions.ensure_judge(
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
