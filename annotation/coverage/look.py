"""Which labels of coverage one looks at, and how: the options of the figures."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.http import QueryDict

from annotation.results.charts import MEASURES
from annotation.results.judges import MEAN
from annotation.results.table import SUBTOPICS, Filters
from benchmarks.scoring.summhay import Score


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
    """What of the figures a page shows: one judge's charts, the measure of the forest, some judges only.

    `shown` are the keys of the judges to show; empty: all.
    """

    judge: str = ""
    measure: str = "pearson"
    shown: tuple[str, ...] = ()

    @classmethod
    def of(cls, query: QueryDict) -> View:
        """What an address wants to see."""
        return cls(
            judge=query.get("judge", ""),
            measure=measure if (measure := query.get("measure", "")) in MEASURES else "pearson",
            shown=tuple(key for key in query.getlist("shown") if key),
        )
