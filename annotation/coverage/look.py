"""Which labels of coverage one looks at, as an address and its form say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.http import QueryDict

from annotation.results.charts import MEASURES
from annotation.results.judges import MEAN
from annotation.results.table import (
    CLUSTERS,
    PEOPLE,
    SUBTOPICS,
    SUMMARIES,
    Filters,
)
from benchmarks.scoring.summhay import Score


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

    task = forms.ChoiceField(required=False, label="Task")
    haystack = forms.ChoiceField(required=False, label="Haystack")
    domain = forms.ChoiceField(required=False, label="Domain")
    retriever = forms.ChoiceField(required=False, label="Retriever")
    summarizer = forms.ChoiceField(required=False, label="Summarizer")
    guideline = forms.ChoiceField(required=False, label="Guidelines")
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
