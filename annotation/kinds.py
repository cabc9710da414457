"""The registry of the kinds of study, and what the app asks of each: its name, its pages, its words in lists.

A kind is a package whose module `kind` has a subclass of `StudyKind` and registers one instance of it; `INSTALLED`
names those packages, and the app imports them once when it starts. What all kinds share asks here and imports no
kind. What a kind says of setting up, dealing and following its studies is in `studies.kind`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from django.db.models import Q
from django.utils.functional import Promise

from annotation.states import LabelTaskState
from benchmarks.personal import Held
from benchmarks.scoring.stat import Stat
from benchmarks.web.charts import Chart

Text = str | Promise
"""Words on a page, in whatever language it is shown."""
Counted = Any
"""Words in the singular or the plural: `ngettext_lazy(…, "n")`, to be filled with `% {"n": …}`."""
SUMMARIES, KEY_POINTS = "summaries", "key points"
"""Texts that judges are run on."""
INSTALLED = ("linking", "verification", "validation", "rating", "writing", "external")
"""The packages of `annotation` that hold a kind of study."""


@dataclass(frozen=True, kw_only=True)
class Words:
    """Names of tasks of label work on the pages of annotators."""

    task: Text
    """The work in a few words."""
    handed_in: Text
    """Heading of the answers."""
    items: Counted
    left: Counted
    finished: Counted
    minutes: float
    """Usual minutes of one task, until the person's own pace is known."""


@dataclass(frozen=True, slots=True)
class StudyFile:
    """A file of a study for its archive; `make` gives its content in pieces.

    A table in CSV also has its columns and `rows`, whose values keep their types, for other forms of tables; its
    content depends on whom it is for. A table in another form says itself how many rows it has.
    """

    name: str
    title: Text
    make: Callable[..., Iterable[str | bytes]]
    columns: Sequence[str] = ()
    rows: Callable[[], Iterable[Sequence[Any]]] | None = None
    n_rows: int = 0

    def content(self, *, reader: str) -> Iterable[str | bytes]:
        """The content for spreadsheets or for programs, which get texts as they are."""
        return self.make() if self.rows is None else self.make(reader=reader)


@dataclass(frozen=True, slots=True)
class Headline:
    """A set of labels: how many items and people, how far people agree, how many judges stand beside them.

    `coefficient` names what corrects agreement for chance, where it is not Randolph's κ. `counted` says what the
    items are, with their number; of them `n_shared` have two labels or more, which is what agreement stands on.
    `notable` are the people who are worth a look by their labels, `paced` by their speed, each with why.
    """

    n_items: int
    n_people: int
    n_judges: int | None
    percent: Stat | None = None
    corrected: Stat | None = None
    coefficient: str = ""
    counted: str = ""
    notable: tuple[str, ...] = ()
    paced: tuple[str, ...] = ()

    @property
    def n_shared(self) -> int:
        """The items that people can agree on."""
        return max(0 if stat is None else stat.n_items for stat in (self.percent, self.corrected))


@dataclass(frozen=True, slots=True)
class Waiting:
    """Something for a researcher to look at: what it is, where, and which study or run it belongs to."""

    text: str
    url: str
    about: str


@dataclass(frozen=True, slots=True)
class Tab:
    """A page of a study: `here` is what the page calls itself, `page` the name of its URL, `part` one of `PARTS`.

    A tab is shown to whoever has `permission`; one that `needs_plan` only for studies that were set up here.
    """

    here: str
    label: Text
    page: str
    part: str
    permission: str = "annotation.view_study"
    needs_plan: bool = False


def results_tab(here: str, label: Text, page: str) -> Tab:
    """A page of results, for whoever may read what was said in sessions."""
    return Tab(here, label, page, "results", "annotation.view_session")


class Worked(NamedTuple):
    """The work in a study: rows with an `annotator`, and the names of their fields.

    `time` is active time in milliseconds, paid for the rows of each `paid_by` together; `item` is what is worked
    on, `is_done` says what was finished.
    """

    rows: Any
    is_done: Q
    time: str
    item: str
    paid_by: str


PARTS: dict[str, Text] = {
    "overview": "Overview",
    "people": "People",
    "work": "Work",
    "results": "Results",
    "data": "Data",
    "settings": "Settings",
}
"""The parts that the pages of a study of any kind are in, in their order."""
DATA = (
    Tab("files", "Files", "annotation:study-archive", "data"),
    Tab("report-card", "Report card", "annotation:study-report-card", "data"),
)


class StudyKind:
    """One kind of study; pages are given by the names of their URLs and take the study's, or task's, public id."""

    value: str
    """The value of `Study.kind`."""
    label: Text
    """Its name in lists of studies."""
    study_page = "annotation:study"
    """Where researchers follow a study of this kind."""
    tabs: tuple[Tab, ...] = ()
    """Pages of a study that only this kind has."""
    words: Words | None = None
    """For label work."""
    guidelines = ""
    """Markdown that new guidelines start from; empty for kinds that bring their own."""
    is_of_coverage = False
    """Whether labels are of coverage."""
    held: tuple[Held, ...] = ()
    """Declarations of its own models, where the app does not declare them."""
    beside_systems = ""
    """Which works of its people stand beside systems: "texts", "ratings", "coverage"; empty for none."""
    reports: Mapping[str, Any] = MappingProxyType({})
    """Reports of `manage.py report` on such studies: a `Report` by its name."""
    judged = ""
    """`SUMMARIES` or `KEY_POINTS`, where judges can be run on those of a study."""

    @property
    def all_tabs(self) -> tuple[Tab, ...]:
        return (*self.tabs, *DATA)

    @property
    def results_page(self) -> str:
        """The page with the results of a study of this kind; empty where there is none."""
        return next((tab.page for tab in self.all_tabs if tab.part == "results"), "")

    def files(self, study: Any, now: datetime) -> Iterable[StudyFile]:
        """Files of an archive of a study beside its labels, at a time."""
        return ()

    hub_task = ""
    """The name that hubs of data sets give the task of its archives."""
    formats: tuple[Any, ...] = ()
    """Each a `Format` of import that only studies of this kind come from."""
    archive_plan: Any = None
    """The `LabelPlan` that makes a study of an archive; None where nothing does."""
    dataset_format = ""
    """The format in which `export_dataset` writes a study of this kind; empty for none."""

    def told_of(self, study: Any) -> Iterable[Mapping[str, Any]]:
        """A row for each label or session, as the archive of a study has them: by these it is known again."""
        return ()

    def export_dataset(self, study: Any, options: Mapping[str, Any], write: Callable[..., str]) -> str:
        """Have `write(path, pieces)` write a study as the options of the command say; gives what was written.

        `write` gives the SHA-256 of what it wrote. Raises `NotPossible`.
        """
        raise NotImplementedError

    def texts_on(self, haystack: Any) -> Mapping[int, list[Any]]:
        """Texts of people on a haystack in studies of this kind, by subtopic, as its file has summaries."""
        return {}

    def work_in_words(self, study: Any) -> str:
        """A sentence on the work, for a methods section; here that there was none on this site."""
        categories = ", ".join(map(str, study.categories))
        allowed = f" The task allowed these labels: {categories}." if categories else ""
        return f"The labels were collected elsewhere and imported.{allowed}"

    def insights_in_files(self, study: Any) -> Iterable[Any]:
        """The haystacks whose reference insights stand in the files of a study: who takes these has seen them."""
        return ()

    def results_of(self, study: Any, part: str = "") -> Any:
        """The `StudyResults` of a study, or those of a `part` with a page of its own; None where it has none."""
        return None

    def has_imported(self, study: Any) -> bool:
        """Whether labels that were made elsewhere answer what this kind asks."""
        return False

    def agreement_of(self, study: Any, options: Mapping[str, Any]) -> Any:
        """Figures of `report agreement` on a study, with `as_json` and `sheet`; None for those of all labels."""
        return None

    def agreement_in(self, labels: Any, options: Mapping[str, Any]) -> Any:
        """The same of labels in a file, if they answer what this kind asks."""
        return None

    def verified(self, study: Any, number: int | None = None) -> Any:
        """The key points that a version of a study keeps, by default the newest; None where it verifies none.

        Raises:
            LookupError: there is no version of this number.
        """
        return None

    def deciding_of(self, study: Any) -> Any:
        """How researchers decide where people disagree, a `Deciding`; None where they do not."""
        return None

    def latest(self, study: Any) -> Chart | None:
        """The results of a study as a small chart for the home of researchers, None before there are any."""
        results = self.results_of(study)
        card: Chart | None = None if results is None else results.card(results.at_first(study))
        return card

    def headline(self, study: Any) -> Headline:
        """The headline of a study's labels, for the list of what can be compared."""
        results = self.results_of(study)
        return Headline(0, 0, None) if results is None else results.headline(results.at_first(study))

    def worked(self, study: Any) -> Worked:
        done = Q(state=LabelTaskState.DONE)
        return Worked(study.label_tasks.order_by(), done, "active_ms", "item", "annotator")

    def untouched(self, study: Any) -> Any:
        """The tasks of a study that nobody has begun, as rows with an `annotator`."""
        return study.label_tasks.untouched()

    def facts(self, study: Any) -> object:
        """All that the headline and the small chart depend on, in a few cheap queries."""
        results = self.results_of(study)
        return () if results is None else results.facts(study)

    def checks_in_order(self, study: Any) -> Mapping[int, Sequence[bool]]:
        """By annotator pk, whether each hidden check was answered right, in the order of answering."""
        return {}

    def waiting(self, studies: Mapping[int, Any]) -> list[Waiting]:
        """Work for a researcher in these studies of this kind, by primary key; a query or two for all."""
        return []


Kind = TypeVar("Kind", bound=StudyKind)
_kinds: dict[str, StudyKind] = {}


def register(kind: Kind) -> Kind:
    """Add a kind.

    Raises:
        ValueError: another kind has the same value.
    """
    if _kinds.setdefault(kind.value, kind) is not kind:
        raise ValueError(f"There are two kinds of study called {kind.value!r}.")
    return kind


def load() -> None:
    for name in INSTALLED:
        import_module(f"annotation.{name}.kind")


def kinds() -> list[StudyKind]:
    """Every kind, in the order of `INSTALLED`."""
    return list(_kinds.values())


def kind_named(value: str) -> StudyKind:
    """The kind with this value of `Study.kind`; KeyError if no package registered it."""
    return _kinds[value]


def values_where(**said: Any) -> list[str]:
    return [kind.value for kind in kinds() if all(getattr(kind, name) == value for name, value in said.items())]


def label_kinds() -> list[str]:
    """The values of the kinds whose tasks are label work."""
    return [kind.value for kind in kinds() if kind.words]


def choices() -> list[tuple[str, Text]]:
    return [(kind.value, kind.label) for kind in kinds()]
