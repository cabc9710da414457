"""Which labels of coverage one looks at, as an address and its form say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.results.charts import MEASURES
from annotation.results.judges import MEAN
from annotation.results.table import (
    CLUSTERS,
    FULL_CONTEXT,
    PEOPLE,
    SUBTOPICS,
    SUMMARIES,
    Filters,
    LabelTable,
    Rater,
)
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.models import Insight, Summary
from benchmarks.scoring.agreement import disagreement
from benchmarks.scoring.summhay import Score
from benchmarks.scoring.sums import Ints


@dataclass(frozen=True, slots=True)
class Options:
    """Values that the filters can be set to."""

    haystacks: tuple[str, ...]
    domains: tuple[str, ...]
    retrievers: tuple[str, ...]
    summarizers: tuple[str, ...]
    guidelines: tuple[int, ...]
    people: tuple[tuple[str, str], ...]
    judges: tuple[tuple[str, str], ...]
    haystack_pks: tuple[int, ...]
    n_adjudicated: int
    has_expected: bool


def options_of(table: LabelTable) -> Options:
    """Every value that occurs, before any filter."""
    infos = table.summaries
    return Options(
        haystacks=_sorted(info.haystack for info in infos),
        domains=_sorted(info.domain for info in infos),
        retrievers=_sorted(info.retriever for info in infos),
        summarizers=_sorted(info.summarizer for info in infos),
        guidelines=tuple(sorted({int(version) for version in table.versions.ravel()} - {0})),
        people=tuple((person.key, person.name) for person in table.people),
        judges=keys_of(table.judges),
        haystack_pks=tuple(sorted({info.haystack_pk for info in infos})),
        n_adjudicated=0 if table.gold_codes is None else int((table.gold_codes >= 0).sum()),
        has_expected=table.expected is not None and bool(np.isfinite(table.expected).any()),
    )


def keys_of(judges: Iterable[Rater]) -> tuple[tuple[str, str], ...]:
    return tuple((judge.key, judge.name) for judge in judges)


def _sorted(values: Any) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value}))


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows: disagreements of people, or of people with one judge; with given labels on either side.

    `against` is `PEOPLE`, or a judge's key or name; `human` and `judge` are labels, empty for any.
    """

    against: str = PEOPLE
    human: str = ""
    judge: str = ""


@dataclass(frozen=True, slots=True)
class RowPosition:
    """Where a row is in the table, and how far people disagree on it: 1 − P_i, None under two labels."""

    index: int
    dispute: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """One person's or judge's answer: label, linked lines and the text of the first; `key` is the rater's."""

    name: str
    kind: str
    label: str
    lines: tuple[int, ...]
    text: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class RowView:
    """One row with all its texts and what was decided, if anything; an external item has a name only."""

    item: str
    insight: str
    insight_uid: str
    summary_uid: str
    has_page: bool
    system: str
    subtopic: str
    dispute: float | None
    answers: tuple[Answer, ...]
    decided: str = ""


def positions(table: LabelTable, chosen: RowFilter) -> list[RowPosition]:
    """The rows asked for, most disputed first; between people and a judge, the farthest apart first."""
    disputes = np.array(disagreement(table.ratings()), dtype=np.float64)
    codes = table.codes[:, : table.n_people]
    judge = next(
        (place for place, rater in enumerate(table.judges) if chosen.against in {rater.key, rater.name}), None
    )
    kept = np.ones(len(codes), dtype=bool)
    if chosen.human in table.categories:
        kept &= (codes == table.categories.index(chosen.human)).any(axis=1)
    if judge is not None:
        codes_of_judge = table.codes[:, table.n_people + judge]
        kept &= codes_of_judge >= 0
        if chosen.judge in table.categories:
            kept &= codes_of_judge == table.categories.index(chosen.judge)
        apart = np.where(codes >= 0, np.abs(codes - codes_of_judge[:, None]), 0).max(axis=1, initial=0)
        strength: Ints = apart
        if not (chosen.human or chosen.judge):
            kept &= apart > 0
    else:
        known = np.where(codes >= 0, codes, np.nan)
        widest = np.nanmax(known, axis=1, initial=0) - np.nanmin(known, axis=1, initial=len(table.categories))
        strength = np.nan_to_num(widest)
        if not chosen.human:
            kept &= np.nan_to_num(disputes) > 0
    order = np.lexsort((np.arange(len(codes)), -strength, -np.nan_to_num(disputes)))
    if judge is not None:
        order = np.lexsort((np.arange(len(codes)), -np.nan_to_num(disputes), -strength))
    shown = order[kept[order]]
    return [
        RowPosition(index, None if dispute != dispute else dispute)  # NaN is not equal to itself
        for index, dispute in zip(shown.tolist(), disputes[shown].tolist(), strict=True)
    ]


def views(table: LabelTable, chosen: Sequence[RowPosition]) -> list[RowView]:
    """The texts of some rows; at most three queries for rows of this site, none for external items."""
    if table.items:
        return [_external(table, position) for position in chosen]
    summary_pks = {table.summaries[table.summary_of[position.index]].pk for position in chosen}
    texts = Summary.objects.filter(pk__in=summary_pks).only("pk", "text", "origin").in_bulk()
    insights = Insight.objects.in_bulk({int(table.insights[position.index]) for position in chosen})
    infos = [table.summaries[table.summary_of[position.index]] for position in chosen]
    words = names_of({info.retriever for info in infos} - {FULL_CONTEXT}) | {FULL_CONTEXT: "all documents"}
    shown = []
    for position in chosen:
        info = table.summaries[table.summary_of[position.index]]
        insight = insights[int(table.insights[position.index])]
        shown.append(
            RowView(
                item="",
                insight=insight.text,
                insight_uid=str(insight.uid),
                summary_uid=info.uid,
                has_page=texts[info.pk].has_page,
                system=f"{info.summarizer} · {words[info.retriever]}",
                subtopic=info.subtopic,
                dispute=position.dispute,
                answers=_answers(table, position.index, texts[info.pk].lines),
                decided=_decided(table, position.index),
            )
        )
    return shown


def _decided(table: LabelTable, index: int) -> str:
    code = -1 if table.gold_codes is None else int(table.gold_codes[index])
    return table.categories[code] if code >= 0 else ""


def _external(table: LabelTable, position: RowPosition) -> RowView:
    answers = _answers(table, position.index, [])
    return RowView(table.items[position.index], "", "", "", False, "", "", position.dispute, answers)


def _answers(table: LabelTable, index: int, lines: Sequence[str]) -> tuple[Answer, ...]:
    answers = []
    for place, rater in enumerate(table.raters):
        code = table.codes[index, place]
        if code < 0:
            continue
        mask = int(table.links[index, place])
        linked = () if not lines else tuple(bit for bit in range(mask.bit_length()) if mask >> bit & 1)
        text = lines[linked[0] - 1] if linked and linked[0] <= len(lines) else ""
        answers.append(Answer(rater.name, rater.kind, table.categories[code], linked, text, rater.key))
    return tuple(answers)


@dataclass(frozen=True, slots=True)
class Look:
    """Which labels, and how one looks at them: the options of the stored figures.

    The labels are those of one `study`, or of a `dataset` in all of `studies`, by primary key. Labels made
    elsewhere may be of several tasks, of which one is looked at: `task`, else the first. With `is_public` people
    appear under their pseudonyms, with `is_numbered` those without an account too.
    """

    study: int | None = None
    studies: tuple[int, ...] = ()
    dataset: str = ""
    task: str = ""
    filters: Filters = field(default_factory=Filters)
    reference: str = MEAN
    clusters: str = SUBTOPICS
    score: Score = Score.LABEL
    is_public: bool = False
    is_numbered: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """Choice of what a page shows of the figures: one judge's charts, the measure of the forest, some judges only.

    `shown` are the keys of the judges to show; empty: all.
    """

    judge: str = ""
    measure: str = "pearson"
    shown: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: QueryDict) -> View:
        """Read the choice from an address."""
        return cls(
            judge=query.get("judge", ""),
            measure=measure if (measure := query.get("measure", "")) in MEASURES else "pearson",
            shown=tuple(key for key in query.getlist("shown") if key),
        )


FIELDS = (
    "haystack",
    "domain",
    "retriever",
    "summarizer",
    "guideline",
    "reference",
    "clusters",
    "score",
    "judge",
    "measure",
    "shown",
)


LONGEST = 300
"""No name that is filtered by is longer; what else an address holds is no name."""


def look_of(data: QueryDict) -> Look:
    """Which figures an address asks for; nothing that is written in it can make an error."""

    def text(name: str) -> str:
        return data.get(name, "")[:LONGEST]

    guideline = text("guideline")
    return Look(
        task=text("task"),
        filters=Filters(
            haystack=text("haystack"),
            domain=text("domain"),
            retriever=text("retriever"),
            summarizer=text("summarizer"),
            guideline=int(guideline) if guideline.isdecimal() and len(guideline) < 9 else None,
            people=tuple(sorted({key[:LONGEST] for key in data.getlist("annotator") if key})),
        ),
        reference=text("reference") or MEAN,
        clusters=clusters if (clusters := text("clusters")) in CLUSTERS else SUBTOPICS,
        score=Score.EXPECTED if text("score") == Score.EXPECTED else Score.LABEL,
    )


class LookForm(forms.Form):
    """The choices that occur in the labels at hand."""

    task = forms.ChoiceField(required=False, label=_("Task"))
    haystack = forms.ChoiceField(required=False, label="Haystack")
    domain = forms.ChoiceField(required=False, label="Domain")
    retriever = forms.ChoiceField(required=False, label="Retriever")
    summarizer = forms.ChoiceField(required=False, label="Summarizer")
    guideline = forms.ChoiceField(required=False, label=_("Guidelines"))
    annotator = forms.MultipleChoiceField(required=False, label="Annotators")
    reference = forms.ChoiceField(required=False, label="Judges against")
    clusters = forms.ChoiceField(
        required=False,
        label="Confidence intervals by",
        choices=[
            (SUBTOPICS, "subtopic"),
            (SUMMARIES, "summary"),
            (PEOPLE, "subtopic and person"),
        ],
    )
    score = forms.ChoiceField(
        required=False,
        label="Judges scored by",
        choices=[(Score.LABEL.value, "hard"), (Score.EXPECTED.value, "expected")],
    )
    shown = forms.MultipleChoiceField(required=False, label="Judges in tables")

    def __init__(self, data: Any, *, options: Options, is_external: bool, tasks: Sequence[str] = ()) -> None:
        super().__init__(data)
        self._choices("task", [(name, name or "without a name") for name in tasks])
        everything = ("", "all")
        lists = {
            "haystack": options.haystacks,
            "domain": options.domains,
            "retriever": options.retrievers,
            "summarizer": options.summarizers,
            "guideline": options.guidelines,
        }
        for name, values in lists.items():
            self._choices(name, [everything, *((str(value), str(value)) for value in values)])
            if len(values) < 2:
                del self.fields[name]
        people = list(options.people)
        self._choices("annotator", people)
        self._choices(
            "reference",
            [
                ("mean", "mean over annotators"),
                ("majority", "majority label"),
                *([("adjudicated", "adjudicated label")] if options.n_adjudicated else []),
                *people,
            ],
        )
        self._choices("shown", list(options.judges))
        unused = {
            "task": len(tasks) < 2,
            "annotator": len(people) < 3,
            "reference": not options.judges or (len(people) < 2 and not options.n_adjudicated),
        }
        unused |= {"shown": len(options.judges) < 2, "clusters": is_external, "score": not options.has_expected}
        for name, is_unused in unused.items():
            if is_unused:
                del self.fields[name]

    def _choices(self, name: str, choices: list[tuple[Any, Any]]) -> None:
        field = self.fields[name]
        field.choices = choices  # type: ignore[attr-defined]
        field.widget.choices = choices
