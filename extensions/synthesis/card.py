"""The data card of a synthesis: what it is, how it was made, what its checks and people say, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from benchmarks.engine import costs
from benchmarks.models import JudgeCall
from benchmarks.scoring.stat import Stat
from extensions.synthesis.figures import SynthesisFigures
from extensions.synthesis.models import PartKind, PartState, Synthesis, SynthesisReply
from extensions.synthesis.settings import Settings

CHECKS = {
    "auc": "Planted against not, by words: AUC",
    "threshold": "Fitted threshold",
    "recall": "Recall at it",
    "precision": "Precision at it",
    "mutation_recall": "Changed documents that this check notices",
    "verbatim": "Insights word for word in their documents (runs of eight)",
    "repeated": "Runs of eight words that another document has too",
    "number_precision": "Sentences with a digit that are evidence",
}
SHARES = {
    "clear_wrong": "Clear parts that people did not accept as they were",
    "flagged_wrong": "Flagged parts that people did not accept as they were",
    "agreed_hidden": "Decided as the checks, which were hidden",
    "agreed_shown": "Decided as the checks, which were shown",
    "said_right": "Insights that checks find in a document, and people too",
    "said_seen": "Insights that people find in a document, and checks too",
}


def card(synthesis: Synthesis, figures: SynthesisFigures) -> str:
    """The card as a page of Markdown; figures are those of its page."""
    return "\n".join(_lines(synthesis, figures)) + "\n"


def _lines(synthesis: Synthesis, figures: SynthesisFigures) -> Iterator[str]:
    steps = list(synthesis.steps.select_related("judge").order_by("number"))
    yield f"# {_plain(synthesis.topic)}"
    yield ""
    is_of_documents = synthesis.kind == Synthesis.Kind.DOCUMENTS
    kind = synthesis.get_kind_display().capitalize()
    of_models = "insights, subtopics and queries" if is_of_documents else "all texts"
    yield f"{kind}; {of_models} by models, checked by people."
    yield from ("", "## How it was made", "")
    yield from _table(
        ("step", "model", "state", "what came of it"),
        [
            (s.name, str(s.judge.config.get("model") or s.judge), s.state, s.counts.get("sentence", ""))
            for s in steps
        ],
    )
    yield from ("", f"Seed {synthesis.seed}. {_spent(synthesis)}", "")
    settings = asdict(Settings.from_mapping(synthesis.settings)) | {
        "prompts": sorted(synthesis.settings["prompts"])
    }
    if n_ideas := synthesis.parts.filter(kind=PartKind.UPLOAD).count():
        settings["uploaded documents"] = n_ideas
    of_questions = settings.pop("questions")
    if synthesis.kind == Synthesis.Kind.QUESTIONS:
        settings |= {f"{name} (questions)": value for name, value in of_questions.items()}
    yield from _table(("setting", "value"), [(name, _setting(value)) for name, value in settings.items()])
    yield from ("", "Wordings, by their SHA-256:", "")
    rows = SynthesisReply.objects.filter(part__synthesis=synthesis).order_by("prompt", "prompt_sha256")
    hashes = rows.values_list("prompt", "prompt_sha256").distinct()
    yield from _table(("prompt", "sha256"), [(name, digest) for name, digest in hashes])
    yield from ("", "## What the checks say", "")
    if figures.why_no_checks:
        yield figures.why_no_checks
    else:
        yield from _table(("figure", "value"), list(_checks(figures)))
    yield from ("", "## What people say", "")
    yield from _table(("figure", "share", "95 % interval", "of"), [_share(figures, name) for name in SHARES])
    decided = ", ".join(f"{action} {n}" for action, n in figures.decisions.items()) or "none"
    yield from ("", f"Decisions: {decided}; accepted unread: {figures.n_unread}.")
    minutes, edited = _number(figures.minutes), _number(figures.edited)
    yield f"Minutes for each part accepted: {minutes}. Share of letters that edits changed: {edited}."
    yield from ("", "## What is left", "")
    yield from _left(synthesis, figures)


def _setting(value: Any) -> str:
    """A value in words: “3, 8” for two numbers, “yes” for True, “–” for nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return str(value) if value not in ("", None) else "–"


def _checks(figures: SynthesisFigures) -> Iterator[tuple[str, str]]:
    for name, title in CHECKS.items():
        yield title, _number(figures.checks.get(name))
    yield "Insights that the model knows without any text", _number(figures.closed_book)
    probes = f"{_number(figures.probes.value)} of {figures.probes.n_items}"
    yield "Documents without the evidence of an insight that words and model notice", probes
    insertions = f"{_number(figures.insertions.value)} of {figures.insertions.n_items}"
    yield "Documents with evidence put in where it is not planned that words and model notice", insertions
    yield "Pairs of documents that are near-duplicates", str(figures.n_near_duplicates)
    within = figures.n_overlapping_within
    yield (
        "Pairs of insights that overlap, within and between subtopics",
        f"{within}, {figures.n_overlapping - within}",
    )


def _share(figures: SynthesisFigures, name: str) -> tuple[str, str, str, str]:
    stat: Stat = getattr(figures, name)
    return SHARES[name], _number(stat.value), f"{_number(stat.low)}–{_number(stat.high)}", str(stat.n_items)


def _left(synthesis: Synthesis, figures: SynthesisFigures) -> Iterator[str]:
    documents = synthesis.parts.filter(kind=PartKind.DOCUMENT, state=PartState.FLAGGED).order_by("number")
    leaks, n = _number(figures.leaks), len(documents)
    yield f"Leaks left in a document, mean: {leaks} found. Flagged and kept: {n} documents."
    for part in documents:
        yield f"- document {part.number}: {', '.join(dict.fromkeys(part.data.get('flags', ())))}"
    if words := figures.lot_words:
        yield from ("", words)
    yield from (
        "",
        "Words see no paraphrase and no changed value. A system of the generator's family may be favoured.",
    )


def _spent(synthesis: Synthesis) -> str:
    spent = costs.cost_of(JudgeCall.objects.filter(run__in=synthesis.runs()))
    price = "no price is known" if spent.dollars is None else f"${spent.dollars:.4f}"
    return f"{spent.n_calls:,} paid requests, {price}."


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(_plain, row))} |"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
