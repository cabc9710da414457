"""What a kind of study that people work in must say: its plan and forms, items, tasks, overview and labels.

The pages and verbs of this package are written against `Work`. `labelling.kind` has the part that all kinds of
label work share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.kinds import FILES, PARTS, Counted, StudyKind, Tab, Text, kind_named, kinds
from annotation.models import Study
from annotation.studies.blocked import Blocked, seen_by
from annotation.studies.overview_page import OverviewPage, Presence
from annotation.studies.preview import Preview
from annotation.studies.tasks import Dealt
from benchmarks.models import Haystack
from benchmarks.web.parquet import is_available
from benchmarks.web.tables import Column

CLOSING = gettext_lazy("No answers can be saved after that; work that was started stays readable.")


class Frozen(Exception):
    """A setting that froze with the first work was about to change; `names` are the fields."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        super().__init__(
            _("The first session has begun, so these settings can no longer change: %(names)s.")
            % {"names": ", ".join(self.names)}
        )


class NotReady(Exception):
    """Something is missing or stands in the way; `problems` are sentences."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(self.problems))


class NotPossible(Exception):
    """A study cannot be set up as a form asks; `field` is the one to look at, None for the form as a whole."""

    field: str | None = None


COMMON = (
    Tab("overview", gettext_lazy("Overview"), "annotation:study", "overview"),
    Tab(
        "annotators",
        gettext_lazy("Annotators"),
        "annotation:study-annotators",
        "people",
        "annotation.change_study",
        needs_plan=True,
    ),
)
LAST = (
    FILES,
    Tab("settings", gettext_lazy("Settings"), "annotation:study-settings", "settings", "annotation.change_study"),
    Tab(
        "guidelines",
        gettext_lazy("Guidelines"),
        "annotation:study-guidelines-edit",
        "settings",
        "annotation.change_study",
    ),
)


@dataclass(frozen=True, slots=True)
class Part:
    """One of the parts of a study with the pages that a user may open; `here` is the page that is shown."""

    label: Text
    tabs: tuple[Tab, ...]
    here: str

    @property
    def page(self) -> str:
        """The name of the URL that the tab of the part leads to."""
        return self.tabs[0].page

    @property
    def is_current(self) -> bool:
        """Whether the page that is shown is in this part."""
        return any(tab.here == self.here for tab in self.tabs)


def _nothing(*_args: Any) -> dict[str, Any]:
    return {}


def _nobody(_study: Study, _now: datetime) -> list[Presence]:
    return []


def _no_problems(_study: Study) -> list[str]:
    return []


def _nobody_blocked(_study: Study) -> list[Blocked]:
    return []


def _member_rows(study: Study) -> list[dict[str, Any]]:
    members = study.memberships.select_related("annotator__user").order_by("number")
    return [{"member": member} for member in members]


@dataclass(frozen=True, kw_only=True)
class Work(StudyKind):
    """A kind of study that researchers set up here and that people work in.

    Verbs take keywords: `study`, `by` and `now` beside what is named here.
    """

    new_title: Text
    """“New linking study”: the button and the heading."""
    intro: Text = ""
    """What people do in such a study, above the form of a new one."""
    closing: Text = CLOSING
    """What follows from closing a study."""
    tasks_page: str = "annotation:study"
    """Where one sees who has which tasks."""

    plan: str = ""
    """The accessor of the row of settings that a study of this kind has; empty where there are none."""
    new_form: Callable[..., Any]
    """The form of a new study, of data and files, `user` and `initial`."""
    create: Callable[..., Study]
    """Makes a study as that `form` says; raises `NotPossible`."""
    initial_of: Callable[[Study, Any], dict[str, Any]] = _nothing
    """What that form shows a user of the plan and items of another study, whose settings it starts from."""
    initial_on: Callable[[Haystack], dict[str, Any]] | None = None
    """What that form shows of its plan where one comes from the page of a haystack."""
    initial_on_sources: Callable[[Sequence[Haystack]], dict[str, Any]] | None = None
    """The same of documents with reference summaries; None where there is no such work on them."""
    settings_form: Callable[..., Any]
    """The form of the settings of a study, of data, `user` and `instance`."""
    update: Callable[..., Study]
    """Changes the settings as that `form` says; raises `Frozen` or `NotReady`."""
    form_context: Callable[[Any, Study | None], dict[str, Any]] = _nothing
    """What the template needs beside the form, of a new study or of one that exists."""
    form_template: str = "annotation/study_form.html"
    settings_template: str = "annotation/study_form.html"

    items_form: Callable[..., Any] | None = None
    """The form that chooses more items, of data, files, `user` and `study`; None where the settings name them."""
    add_items: Callable[..., int] | None = None
    """Adds what that `form` chooses; gives how many are new. Raises `NotPossible`."""
    deal: Callable[..., Dealt] | None = None
    """Gives every item its missing annotators; with `rebalance` what nobody opened is shared anew. None where a
    researcher gives tasks instead of having them assigned at once."""
    fill: Callable[..., Any] | None = None
    """Where tasks are not assigned at once: fills the open places, up to `max_tasks` for each person."""
    room: Callable[..., int] | None = None
    """For how many of `n` people who join now there are tasks, up to `max_tasks` each; it changes nothing."""
    checks: Callable[[Study], Mapping[int, tuple[int, int]]] | None = None
    """By annotator pk, how many hidden checks somebody answered, and how many of them right."""
    blocked: Callable[[Study], list[Blocked]] = _nobody_blocked
    """Who takes part, has no task and can be given none, and why; one query where everybody has one."""
    n_short: Callable[[Study], int] | None = None
    """How many items have fewer people than planned."""
    short: Counted = ""
    """That n items have fewer people than planned."""
    short_help: Text = ""
    member_rows: Callable[[Study], list[dict[str, Any]]] = _member_rows
    """A row for each person who takes or took part, with what `people_template` shows beside the name."""
    member_columns: Mapping[str, Column] = field(default_factory=dict)
    """What of such a row `people_template` sorts by, beside the name and the day of joining."""
    people_template: str = "annotation/study_annotators.html"

    release: Callable[..., tuple[int, int]]
    """Takes back what an `annotator` who leaves has not begun; how many tasks, and how many stay begun."""
    unfinished_of: Callable[..., tuple[int, int]]
    """How many tasks of an `annotator` wait, and how many are begun."""
    opening_problems: Callable[[Study], list[str]]
    """What has to be done before annotators can see their tasks."""
    archiving_problems: Callable[[Study], list[str]] = _no_problems
    deletion_problems: Callable[[Study], list[str]]
    """What stands in the way."""

    preview: Preview | None = None
    """How researchers see the page that annotators work on."""
    overview: Callable[[Study, datetime], OverviewPage]
    """How a study goes, in a fixed number of queries."""
    on_now: Callable[[Study, datetime], list[Presence]] = _nobody
    """Who is at work at a time, in one query."""
    overview_template: str = "annotation/study_detail.html"
    label_columns: tuple[str, ...] = ()
    label_rows: Callable[[Study, str], Iterator[tuple[Any, ...]]] | None = None
    """One row a label in the order of the columns, of a selection of `label_files`."""
    label_cells: Callable[[Iterator[tuple[Any, ...]]], Iterable[Sequence[Any]]] = iter
    """The rows as a table has them, where that differs."""
    label_files: tuple[tuple[str, Text], ...] = ()
    """What can be downloaded of the labels: a selection of rows and what it is called, the usual one first."""
    downloads: tuple[tuple[str, Text], ...] = ()
    """Other files, or the page where they are: the name of its URL, and what it is called."""

    @property
    def all_tabs(self) -> tuple[Tab, ...]:
        """The pages of every kind, and its own."""
        return (*COMMON, *self.tabs, *LAST)

    @property
    def deals(self) -> bool:
        """Whether tasks are assigned as soon as there are annotators."""
        return self.deal is not None

    def short_of(self, study: Study) -> str:
        """That items have fewer people than planned, as a sentence; empty where all have enough."""
        n = self.n_short(study) if self.n_short is not None and has_plan(study) else 0
        return str(self.short % {"n": n}) if n else ""


def blocked_in(study: Study, user: Any) -> list[Blocked]:
    """Who can be given no task of a study that is not over, and why, as a researcher may know it."""
    return [] if is_over(study) or not has_plan(study) else seen_by(user, work_of(study).blocked(study))


def is_over(study: Study) -> bool:
    """Whether no task of a study can be begun any more, unless it is opened again."""
    return study.state in {Study.State.CLOSED, Study.State.ARCHIVED}


def label_formats() -> dict[str, Text]:
    """The forms in which labels can be downloaded, and what they are called."""
    parquet = {"parquet": "Parquet"} if is_available() else {}
    return {"csv": "CSV", "jsonl": gettext_lazy("JSON lines"), **parquet}


def works() -> list[Work]:
    """The kinds of study that are set up here."""
    return [kind for kind in kinds() if isinstance(kind, Work)]


def work_of(study: Study) -> Work:
    """The kind of a study that people work in.

    Raises:
        LookupError: the labels were made elsewhere.
    """
    kind = kind_named(study.kind)
    if not isinstance(kind, Work):
        raise LookupError(f"Nobody works in {study}.")
    return kind


def has_plan(study: Study) -> bool:
    """Whether a study has the settings of its kind; one whose labels were imported has none."""
    plan = work_of(study).plan
    return not plan or hasattr(study, plan)


def parts_of(study: Study, *, here: str, may: Callable[[str], bool]) -> list[Part]:
    """The parts of a study with the pages that somebody may open; parts without a page are left out."""
    kind = kind_named(study.kind)
    has_its_plan = not isinstance(kind, Work) or has_plan(study)
    tabs = [tab for tab in kind.all_tabs if may(tab.permission) and (has_its_plan or not tab.needs_plan)]
    parts = [Part(label, tuple(tab for tab in tabs if tab.part == name), here) for name, label in PARTS.items()]
    return [part for part in parts if part.tabs]
