"""Contents of the pages of syntheses: steps with progress and counts, cells, the plan, and parts under review."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Q

from benchmarks.engine import runs
from benchmarks.engine.runs import RunProgress
from benchmarks.web.pages import Mark, Segment, segments
from extensions.synthesis import haystacks
from extensions.synthesis.deciding import Edits
from extensions.synthesis.models import (
    GONE,
    KINDS,
    READ,
    STANDS,
    PartKind,
    PartState,
    ReviewAction,
    StepState,
    Synthesis,
    SynthesisDecision,
    SynthesisKind,
    SynthesisPart,
    SynthesisStep,
    stands,
)
from extensions.synthesis.replies import located
from extensions.synthesis.settings import Draws, Settings
from extensions.synthesis.steps import counts_of, is_under_way

MOST_NAMED = 20
"""Parts with unusable replies that the page of a synthesis leads to."""
LARGE = 1500
"""Squares from which the picture of a plan is folded."""
BLIND_SHARE = 0.1
"""Parts on which the verdict of the checks is hidden, so that it can be seen how far it sways people."""
SAMPLE = 20
_WORD = re.compile(r"\w+")


# Syntheses and their steps


def list_rows() -> list[dict[str, Any]]:
    """All syntheses, the newest first, with the step that each is at and its documents; two queries."""
    documents = Q(parts__kind=PartKind.DOCUMENT) & ~Q(parts__text="") & ~Q(parts__state=PartState.REGENERATED)
    rows = Synthesis.objects.select_related("created_by", "haystack").annotate(n=Count("parts", filter=documents))
    steps = SynthesisStep.objects.exclude(state=StepState.CLOSED).order_by("-number")
    first = {step.synthesis_id: step for step in steps}
    return [{"synthesis": row, "step": first.get(row.pk), "n_documents": row.n} for row in rows]


class StepRow(NamedTuple):
    """A step as its row shows it; `states` count its parts, `under_repair` is as `haystacks` says."""

    step: SynthesisStep
    progress: RunProgress | None
    n_repaired: int
    n_written: int
    under_repair: tuple[int, int] | None
    states: dict[str, int]
    is_next: bool
    following: SynthesisStep | None = None

    @property
    def has_gate(self) -> bool:
        """Whether people look at what it made."""
        return KINDS[self.step.name].has_gate

    @property
    def is_at_gate(self) -> bool:
        """Whether somebody decides whether it goes on."""
        return self.is_next and self.step.state == StepState.REVIEW

    @property
    def is_working(self) -> bool:
        """Whether it is worth looking again."""
        run = self.step.run
        return self.step.state == StepState.RUNNING and run is not None and run.state in runs.GOING

    @property
    def n_read(self) -> int:
        """Parts that people have decided on; what was made again counts once, as what it is now."""
        return sum(self.states.get(state, 0) for state in READ - {PartState.REGENERATED})

    @property
    def can_start(self) -> bool:
        waits = self.step.state in {StepState.PLANNED, StepState.ESTIMATED, StepState.STALE}
        return self.is_next and (waits or self.was_stopped or self.has_failed)

    @property
    def was_stopped(self) -> bool:
        """Whether its run was cancelled before its end."""
        return self.step.state == StepState.RUNNING and not is_under_way(self.step)

    @property
    def has_failed(self) -> bool:
        """Whether something of it got no answer and can be asked again."""
        return self.step.state == StepState.REVIEW and bool(self.step.counts.get("failed"))

    @property
    def n_missing(self) -> int:
        """Number that its lists lack and can be asked for once more."""
        if not self.is_at_gate or self.has_failed or self.step.name not in haystacks.LISTS:
            return 0
        counts = counts_of(self.step)
        return max(0, int(counts["asked"] - counts["got"]))


def step_rows(synthesis: Synthesis) -> list[StepRow]:
    """All steps in their order; four queries, and one for each that runs."""
    steps = list(synthesis.steps.select_related("run", "judge", "closed_by").order_by("number"))
    counts: dict[str, dict[str, int]] = {}
    parts = SynthesisPart.objects.filter(synthesis=synthesis).order_by()
    for row in parts.values("kind", "state").annotate(n=Count("pk")):
        counts.setdefault(row["kind"], {})[row["state"]] = row["n"]
    parts = parts.exclude(state=PartState.REGENERATED)
    repaired = dict(parts.filter(data__n_repairs__gt=0).values_list("kind").annotate(n=Count("pk")))
    n_written = parts.filter(kind=PartKind.DOCUMENT).exclude(text="").count()
    first = next((step.number for step in steps if step.state != StepState.CLOSED), 0)
    rows = []
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        kind, is_running = KINDS[step.name], step.state == StepState.RUNNING
        is_writing = step.name == "documents"
        rows.append(
            StepRow(
                step=step,
                progress=runs.run_progress(step.run) if step.run and is_running else None,
                n_repaired=repaired.get(kind.makes, 0),
                n_written=n_written if is_writing else 0,
                under_repair=haystacks.under_repair(synthesis) if is_writing and is_running else None,
                states=counts.get(kind.makes, {}) if kind.has_gate else {},
                is_next=step.number == first and not synthesis.is_handed_over,
                following=following,
            )
        )
    return rows


def unusable(synthesis: Synthesis) -> dict[str, Any]:
    """Replies that could not be used: how many there are, and the parts that have most of them; two queries."""
    replies = Q(replies__value__isnull=True, replies__isnull=False)
    parts = SynthesisPart.objects.filter(synthesis=synthesis).annotate(n_unusable=Count("replies", filter=replies))
    rows = list(parts.filter(n_unusable__gt=0).select_related("step").order_by("-n_unusable", "pk"))
    return {"n": sum(row.n_unusable for row in rows), "parts": rows[:MOST_NAMED]}


def cells_of(synthesis: Synthesis) -> dict[str, Any] | None:
    """How full the cells are, a row for each category and a cell for each domain; None before there are any.

    A cell has (questions that stand, those that people have read) and is to have `n_wanted`.
    """
    if synthesis.kind != SynthesisKind.QUESTIONS:
        return None
    numbers = Settings.from_mapping(synthesis.settings).questions
    parts = SynthesisPart.objects.filter(synthesis=synthesis)
    cells = {(row.data["category"], row.data["domain"]): row.pk for row in parts.filter(kind=PartKind.CELL)}
    if not cells:
        return None
    states = parts.filter(kind=PartKind.QUESTION, state__in=STANDS).values_list("parent", "state")
    n, n_read = Counter[int | None](), Counter[int | None]()
    for cell, state in states:
        n[cell] += 1
        n_read[cell] += state in READ
    keys = {name: [cells.get((name, domain), 0) for domain in numbers.domains] for name in numbers.categories}
    rows = [(name, [(n[pk], n_read[pk]) for pk in row]) for name, row in keys.items()]
    return {"domains": numbers.domains, "rows": rows, "n_wanted": numbers.per_cell}


def picture(synthesis: Synthesis) -> dict[str, Any] | None:
    """The plan as squares, a row for each insight, a column for each document; None where there is none yet.

    A square is planned, said, said partly, missing, leaked or stale.
    """
    rows = SynthesisPart.objects.filter(synthesis=synthesis, kind__in=[PartKind.INSIGHT, PartKind.DOCUMENT])
    parts = list(rows.exclude(state__in=GONE).order_by("number", "generation"))
    documents = [part for part in parts if part.kind == PartKind.DOCUMENT]
    if synthesis.kind == SynthesisKind.QUESTIONS or not documents:
        return None
    insights = [part for part in parts if part.kind == PartKind.INSIGHT and stands(part.kind, part.state)]
    rows_of = {part.pk: y for y, part in enumerate(insights)}
    numbers = {part.number: y for y, part in enumerate(insights)}
    columns = {part.pk: x for x, part in enumerate(documents)}
    states: dict[tuple[int, int], str] = {}
    links: Any = SynthesisPart.uses.through
    planned = links.objects.filter(from_synthesispart__in=columns, to_synthesispart__in=rows_of)
    for document, insight in planned.values_list("from_synthesispart", "to_synthesispart"):
        states[columns[document], rows_of[insight]] = "planned"
    held = links.objects.filter(from_synthesispart__in=rows_of, to_synthesispart__in=columns)
    for insight, document in held.values_list("from_synthesispart", "to_synthesispart"):
        states[columns[document], rows_of[insight]] = "said"
    for part in documents:
        for pair in part.data.get("pairs", ()):
            y = numbers.get(pair["insight"])
            if y is not None and (state := _state(pair)):
                states[columns[part.pk], y] = state
        if part.state == PartState.STALE:
            states |= {place: "stale" for place in states if place[0] == columns[part.pk]}
    return {
        "n_documents": len(documents),
        "n_insights": len(insights),
        "squares": [(x, y, state) for (x, y), state in sorted(states.items())],
        "counts": dict(Counter(states.values())),
        "is_large": len(documents) * len(insights) > LARGE,
    }


def _state(pair: Mapping[str, Any]) -> str:
    """Drawing of a checked pair; nothing where it is not planned and not there."""
    if pair["is_planned"]:
        return {"yes": "said", "partly": "partly", "no": "missing"}.get(pair["present"] or "", "planned")
    return "leaked" if pair["present"] in {"yes", "partly"} else ""


# The order of review


class Queue(NamedTuple):
    """Parts to look at, those that people have read, and the clear ones that nobody has to."""

    first: Sequence[SynthesisPart]
    sample: Sequence[SynthesisPart]
    rest: Sequence[SynthesisPart]

    @property
    def order(self) -> list[SynthesisPart]:
        """All, one after the other."""
        return [*self.first, *self.sample, *self.rest]

    @property
    def n_open(self) -> int:
        """How many are flagged or in the sample, and not read yet."""
        return sum(part.state not in READ for part in (*self.first, *self.sample))

    def next_open(self, current: str = "") -> str:
        """The next part after this one that nobody has read, else the first such one, else none."""
        order = [*self.first, *self.sample]
        at = next((n for n, part in enumerate(order) if str(part.uid) == current), -1)
        waiting = (part for part in (*order[at + 1 :], *order[: max(at, 0)]) if part.state not in READ)
        return next((str(part.uid) for part in waiting), "")


def is_blind(seed: int, part: SynthesisPart) -> bool:
    return Draws(seed).of("blind", part.kind, part.number, part.generation) < BLIND_SHARE


def is_hidden(part: SynthesisPart, seed: int) -> bool:
    """Whether a reviewer does not see what the checks say of a part."""
    return is_blind(seed, part) and part.state not in READ


def queue(parts: Collection[SynthesisPart], *, seed: int, n_sample: int = SAMPLE) -> Queue:
    """Flagged and stale parts first, then clear ones drawn by seed; hidden verdicts stand among those."""
    draws = Draws(seed)
    alive = [part for part in parts if part.state not in {PartState.REGENERATED, PartState.PROPOSED}]
    first, others = list[SynthesisPart](), list[SynthesisPart]()
    for part in alive:
        is_first = part.state == PartState.STALE or (part.data.get("flags") and not is_blind(seed, part))
        (first if is_first else others).append(part)
    drawn = sorted(others, key=lambda part: draws.of("sample", part.kind, part.number, part.generation))
    clear = [part for part in drawn if not part.data.get("flags")]
    rest = {part.uid for part in clear[n_sample:]}
    return Queue(
        first=first,
        sample=[part for part in drawn if part.uid not in rest],
        rest=[part for part in others if part.uid in rest],
    )


# A part under review


class PairRow(NamedTuple):
    """An insight that a document is to say or leaks: what its check says, and the newest verdict of a person."""

    insight: SynthesisPart
    pair: dict[str, Any] | None
    verdict: SynthesisDecision | None
    mark: int


def shown(part: SynthesisPart, seed: int, *, cursor: str = "") -> dict[str, Any]:
    """All that a reviewer needs of a part, on a blind one nothing of what checks say; a fixed number of queries.

    `cursor` is the key of the insight that a verdict is on, by default the first without one.
    """
    blind = is_hidden(part, seed)
    pairs = {} if blind else {pair["insight"]: pair for pair in part.data.get("pairs", ())}
    holds, leaks, others = _pair_rows(part, pairs)
    rows = [*holds, *leaks] if part.kind == PartKind.DOCUMENT else []
    at = next((n for n, row in enumerate(rows) if str(row.insight.uid) == cursor), -1)
    if at < 0:
        at = next((n for n, row in enumerate(rows) if row.verdict is None), -1)
    every = SynthesisPart.objects.filter(synthesis=part.synthesis_id)
    nearest = None if blind else part.data.get("nearest")
    neighbour = (
        every.filter(kind=PartKind.INSIGHT, number=nearest["insight"]).order_by("-generation").first()
        if nearest
        else None
    )
    alike = every.filter(kind=part.kind, parent=part.parent_id).exclude(pk=part.pk).exclude(state__in=GONE)
    can_be_merged = part.kind in {PartKind.INSIGHT, PartKind.POINT}
    return {
        "part": part,
        "is_blind": blind,
        "flags": [] if blind else list(dict.fromkeys(part.data.get("flags", ()))),
        "text": _marked(part, [row.pair for row in [*holds, *leaks] if row.pair]),
        "holds": holds,
        "leaks": leaks,
        "cursor": rows[at] if at >= 0 else None,
        "following": rows[(at + 1) % len(rows)] if rows else None,
        "others": others,
        "neighbour": neighbour,
        "compared": list(shared_words(part.text, neighbour.text)) if neighbour else [],
        "decisions": list(part.decisions.select_related("by", "insight").order_by("pk")),
        "mergeable": list(alike.order_by("number")) if can_be_merged else [],
        "facts": list(_facts(part, is_blind=blind)),
    }


def _pair_rows(
    part: SynthesisPart, pairs: Mapping[int, dict[str, Any]]
) -> tuple[list[PairRow], list[PairRow], list[SynthesisPart]]:
    """(what a part is to say, what it leaks as checks or people say, further insights that it might leak)."""
    judged = part.decisions.filter(action=ReviewAction.VERDICT, undone_by=None).select_related("insight", "by")
    edits = Edits(part)
    verdicts = {row.insight_id: row for row in judged.order_by("pk") if edits.are_judged(row)}

    def row_of(insight: SynthesisPart, mark: int) -> PairRow:
        pair = pairs.get(insight.number) if edits.are_checked(insight) else None
        return PairRow(insight, pair, verdicts.get(insight.pk), mark)

    holds = [row_of(row, row.number) for row in part.uses.filter(kind=PartKind.INSIGHT).order_by("number")]
    if part.kind != PartKind.DOCUMENT:
        return holds, [], []
    insights = SynthesisPart.objects.filter(synthesis=part.synthesis_id, kind=PartKind.INSIGHT)
    foreign = insights.exclude(state__in=GONE).exclude(number__in={row.mark for row in holds})
    rows = [row_of(row, -row.number) for row in foreign.order_by("number", "pk")]
    leaks = [row for row in rows if row.verdict is not None or (row.pair and row.pair["present"] != "no")]
    return holds, leaks, [row.insight for row in rows if row not in leaks]


def _marked(part: SynthesisPart, pairs: Sequence[dict[str, Any]]) -> list[Segment]:
    """The text with the words that say its insights marked; `points` are numbers of insights, leaks negative."""
    marks = []
    for pair in pairs:
        place = located(part.text, pair["quote"]) if pair["quote"] and pair["present"] != "no" else None
        if place is not None:
            number = pair["insight"] if pair["is_planned"] else -pair["insight"]
            marks.append(Mark(*place, number, f"i{pair['insight']}"))
    return segments(part.text, marks)


def shared_words(text: str, other: str) -> Iterator[tuple[str, bool]]:
    """A text in pieces, and whether each is a word that another text has too."""
    there = {word.casefold() for word in _WORD.findall(other) if len(word) > 2 or word.isdigit()}
    for piece in re.split(r"(\w+)", text):
        if piece:
            yield piece, piece.casefold() in there


def _facts(part: SynthesisPart, *, is_blind: bool) -> Iterator[tuple[str, str]]:
    """(name, value) of what a reviewer must know beside the text; on a blind one nothing of what checks say."""
    data, above = part.data, part.parent
    if part.kind == PartKind.DOCUMENT and above is not None:
        above = above.parent
    is_below = part.kind in {PartKind.QUERY, PartKind.DOCUMENT, PartKind.POINT}
    if is_below and above is not None and above.kind == PartKind.QUESTION:
        yield "Question", above.text
    if part.kind == PartKind.SEED:
        yield "Category", part.title or "–"
        if data.get("answer"):
            yield "Answer, words", str(data["n_words"])
        if not is_blind and "criteria" in data:
            marks = ((("✓" if is_met else "✗"), name) for name, is_met in data["criteria"].items())
            yield "Criteria", "  ".join(f"{mark} {name}" for mark, name in marks)
    if part.kind == PartKind.QUESTION and "seed" in data:
        how = "made harder" if data.get("method") == "deeper" else "new, of the same kind"
        seed = part.uses.filter(kind=PartKind.SEED).first()
        yield "From the seed", f"{seed.text if seed else data['seed']} ({how})"
        yield "Words", str(len(part.text.split()))
    if part.kind == PartKind.QUERY and part.title:
        yield "Kind of question", part.title
    if part.kind == PartKind.DOCUMENT and data.get("url"):
        yield "Address", data["url"]
    if part.kind == PartKind.POINT and not is_blind and data.get("autods") is not None:
        yield "AutoDS score", f"{data['autods']:.2f}"
