"""The base of a kind of study that people work in: its plan and forms, items, tasks, overview and labels.

The pages and verbs of this package are written against `Work`. `labelling.kind` has the part that all kinds of
label work share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse

from annotation.kinds import DATA, PARTS, StudyKind, Tab, Text, kind_named, kinds
from annotation.models import Annotator, Study
from annotation.studies.estimates import Estimate, Measured
from annotation.studies.gaps import Blocked, Gaps, Holding, seen_by
from annotation.studies.overview import OverviewPage, Presence, Remark
from annotation.studies.rows import objects
from annotation.studies.tasks import Dealt
from benchmarks.models import Haystack
from benchmarks.web.downloads import is_available
from benchmarks.web.lists import Column


class NoPreview(Exception):
    """The page cannot be shown; the text of the exception says why."""


@dataclass(frozen=True, slots=True)
class PreviewPlace:
    """Which item of the study is shown, from 1 to `n`."""

    study: Study
    number: int
    n: int

    @property
    def name(self) -> str:
        """The page's name for its item; a part of its address, and of no other's."""
        return f"preview/{self.number}/"

    @property
    def study_url(self) -> str:
        return reverse("annotation:study", args=[self.study.uid])

    @property
    def previous_url(self) -> str:
        return self.page_of(self.number - 1) if self.number > 1 else ""

    @property
    def next_url(self) -> str:
        return self.page_of(self.number + 1) if self.number < self.n else ""

    def page_of(self, number: int) -> str:
        return reverse("annotation:study-preview-item", args=[self.study.uid, number])

    def act(self, name: str) -> str:
        """The address that replies to what the page sends under this name."""
        return reverse("annotation:study-preview-act", args=[self.study.uid, self.number, name])


USUAL_RATE = Decimal(25)
"""Of the papers, in US dollars an hour."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A study of a paper: how many tasks it had there, shared by `n_people`; not `in_paper` they are ours.

    `values` fill the form; `choose` adds what depends on the data at hand, as which subtopics, and `lacks` says
    what of these data is missing here, in a sentence, empty where all is there.
    """

    key: str
    title: Text
    paper: str
    section: str
    about: Text
    n_tasks: int
    n_people: int
    values: Mapping[str, Any] = field(default_factory=dict)
    choose: Callable[[int], Mapping[str, Any]] = lambda _seed: {}
    lacks: Callable[[], str] = str
    seed: int = 1
    in_paper: bool = True

    def initial(self) -> dict[str, Any]:
        return {"name": str(self.title), "hourly_rate": USUAL_RATE, **self.values, **self.choose(self.seed)}


class Frozen(Exception):
    """A setting that froze with the first work was about to change; `names` are the fields."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        super().__init__(
            f"The first session has begun, so these settings can no longer change: {', '.join(self.names)}."
        )


class NotReady(Exception):
    """Something is missing or stands in the way; `problems` are sentences."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(self.problems))


class NotPossible(Exception):
    """A study cannot be set up as a form asks; `field` is the one to look at, None for the form as a whole."""

    field: str | None = None


ARCHIVED = "The study is archived; restore it first."
COMMON = (
    Tab("overview", "Overview", "annotation:study", "overview"),
    Tab(
        "annotators",
        "Annotators",
        "annotation:study-annotators",
        "people",
        "annotation.change_study",
        needs_plan=True,
    ),
)
LAST = (
    *DATA,
    Tab("settings", "Settings", "annotation:study-settings", "settings", "annotation.change_study"),
    Tab(
        "guidelines",
        "Guidelines",
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
        return any(tab.here == self.here for tab in self.tabs)


class Work(StudyKind, ABC):
    """A kind of study that researchers set up here and that people work in.

    What has to be overridden is abstract; all else is as for a kind without it. A function that a module of the
    kind has already becomes a method by `staticmethod`.
    """

    new_title: Text
    """“New linking study”: the button and the heading."""
    intro: Text = ""
    """Stands above the form of a new study: the work of its people."""
    closing: Text = "No answers can be saved after that; work that was started stays readable."
    """Consequences of closing a study."""
    tasks_page = "annotation:study"
    """Where one sees who has which tasks."""
    list_of_tasks = ("annotation:study-work", "uid")
    """The page that lists tasks, and the field of an annotator by which `annotator` in its address chooses."""
    plan: type[Any] | None = None
    """The model of the settings of a study, with a field `study`; None where there are none."""

    new_form: type[Any]
    """The form of a new study, of data and files, `user` and `initial`; a `PlanForm` where there are settings."""
    settings_form: type[Any]
    """The form of the settings of a study, of data, `user` and `study`."""
    items_form: type[Any] | None = None
    """The form that chooses more items, of data, files, `user` and `study`; None where the settings name them."""
    form_template = "annotation/study_form.html"
    settings_template = "annotation/study_form.html"
    people_template = "annotation/study_annotators.html"
    overview_template = "annotation/study_detail.html"

    deals = True
    """Whether every item gets its missing annotators at once; otherwise a researcher assigns tasks."""
    short_help: Text = ""
    short_page = "annotation:study-annotators"
    """Where the missing people are assigned."""
    member_columns: Mapping[str, Column] = MappingProxyType({})
    """Columns of the page of people beside the name and the day of joining, of rows of `member_rows`."""
    label_columns: tuple[str, ...] = ()
    label_files: tuple[tuple[str, Text], ...] = ()
    """Files of labels: a selection of rows and what it is called, the usual one first."""
    downloads: tuple[tuple[str, Text], ...] = ()
    """Other files, or the page where they are: the name of its URL, and what it is called."""

    hub_task = "text-classification"

    recipes: tuple[Recipe, ...] = ()
    """Studies of this kind as the papers set them up."""

    @property
    def all_tabs(self) -> tuple[Tab, ...]:
        return (*COMMON, *self.tabs, *LAST)

    # Setting up, settings

    @abstractmethod
    def create(self, *, form: Any, by: Any, now: datetime) -> Study:
        """Make a study as a form of `new_form` says; raises `NotPossible`."""

    def demo_study(self, plan: dict[str, Any], **values: Any) -> Study:
        """Make a study of the demo with these settings; `values` also say what it is about."""
        raise NotImplementedError

    @abstractmethod
    def update(self, *, form: Any, study: Study, by: Any, now: datetime) -> Study:
        """Change the settings as a form of `settings_form` says; raises `Frozen` or `NotReady`."""

    def initial_of(self, study: Study, user: Any) -> dict[str, Any]:
        """Values of the form of a new study that starts from the settings of another: plan and items."""
        plan = plan_of(study)
        return {} if plan is None else self.new_form.shown(plan)

    def initial_on(self, haystack: Haystack) -> dict[str, Any]:
        """Values of that form where one comes from the page of a haystack; none if it cannot be about one."""
        return {"haystacks": [haystack.pk]} if "haystacks" in self.new_form.base_fields else {}

    def initial_on_sources(self, sources: Sequence[Haystack]) -> dict[str, Any]:
        """The same of documents with reference summaries; nothing where there is no such work on them."""
        return {}

    def initial_on_questions(self, dataset: str) -> dict[str, Any]:
        """The same of a question set; nothing where there is no such work on questions."""
        return {}

    def form_context(self, form: Any, study: Study | None) -> dict[str, Any]:
        """Context of the template beside the form, of a new study or of one that exists."""
        return {}

    def takes(self, sent: QueryDict, *, user: Any, n_supposed: int = 0) -> Estimate | None:
        """Estimate a new study as its form is sent, with `n_supposed` people while nobody is chosen.

        None where the form chooses nothing, or not rightly.
        """
        return None

    def outlook(self, measured: Measured | None, *, user: Any, now: datetime) -> Any:
        """How narrow the headline of a new study is expected to be, None where nothing says it.

        It has a `title`, `shown`, the half of its interval, and the `source` of what it is planned by.
        """
        return None

    # Items and people

    def add_items(self, *, form: Any, study: Study, by: Any, now: datetime) -> int:
        """Add what a form of `items_form` chooses; gives how many are new. Raises `NotPossible`."""
        raise NotImplementedError

    def deal(self, *, study: Study, by: Any, now: datetime, rebalance: bool = False) -> Dealt:
        """Give every item its missing annotators; with `rebalance` what nobody opened is shared anew."""
        raise NotImplementedError

    @abstractmethod
    def deal_to_newcomers(self, *, study: Study, max_tasks: int | None, now: datetime) -> None:
        """Give tasks to people who have just joined, up to `max_tasks` for each."""

    @abstractmethod
    def shares_of_newcomers(self, *, study: Study, n: int, max_tasks: int | None) -> list[int]:
        """How many tasks those of `n` people who join now would get who get any; it changes nothing."""

    def checks(self, study: Study) -> Mapping[int, tuple[int, int]]:
        """By annotator pk, how many hidden checks somebody answered, and how many of them right."""
        return {person: (len(each), sum(each)) for person, each in self.checks_in_order(study).items()}

    def gaps(self, study: Study) -> Gaps:
        """Which items have fewer people than planned, and who can be given no task."""
        return Gaps()

    def short_of(self, study: Study, gaps: Gaps | None = None) -> str:
        """That items have fewer people than planned, as a sentence; empty where all have enough, or archived.

        `gaps` are its own, where a page asks them for more than this.
        """
        n = 0 if study.state == Study.State.ARCHIVED else (gaps or gaps_of(study)).n_short()
        return self.short_in_words(n) if n else ""

    def short_in_words(self, n: int) -> str:
        """That n items have fewer people than planned."""
        return ""

    def columns_of_members(self, study: Study) -> Mapping[str, Column]:
        return self.member_columns

    def member_rows(self, study: Study) -> list[dict[str, Any]]:
        """A row for each person who takes or took part, with what `people_template` shows beside the name."""
        members = study.memberships.select_related("annotator__user").order_by("number")
        return [{"member": member} for member in members]

    @abstractmethod
    def release(
        self, *, study: Study, annotator: Annotator, reason: str, by: Any, now: datetime
    ) -> tuple[int, int]:
        """Take back what an annotator who leaves has not begun; how many tasks, and how many stay begun."""

    @abstractmethod
    def unfinished_of(self, *, study: Study, annotator: Annotator) -> tuple[int, int]:
        """How many tasks of an annotator wait, and how many are begun."""

    # What stands in the way

    @abstractmethod
    def opening_problems(self, study: Study) -> list[str]:
        """Tasks to do before annotators can see theirs."""

    def archiving_problems(self, study: Study) -> list[str]:
        """Why a study cannot be archived now."""
        return []

    @abstractmethod
    def deletion_problems(self, study: Study) -> list[str]:
        """Why a study cannot be deleted."""

    # Following a study

    def next_step(self, study: Study, now: datetime) -> str:
        """A step that would make the headline of a study narrower, in a sentence; empty while nothing is known."""
        return ""

    @abstractmethod
    def n_previews(self, study: Study) -> int:
        """How many items there are to show researchers as annotators see them."""

    @abstractmethod
    def preview(self, request: HttpRequest, place: PreviewPlace) -> HttpResponse:
        """The page of one item as annotators see it; raises `NoPreview`."""

    @abstractmethod
    def preview_act(self, request: HttpRequest, place: PreviewPlace, name: str) -> tuple[dict[str, Any], int]:
        """The reply to a message of that page, by its name, and the status of the reply; raises `Http404`."""

    @abstractmethod
    def overview(self, study: Study, now: datetime) -> OverviewPage:
        """How a study goes, in a fixed number of queries."""

    def remarks(self, study: Study) -> list[Remark]:
        """Tasks that somebody flagged, skipped or commented on. One query."""
        return []

    def on_now(self, study: Study, now: datetime) -> list[Presence]:
        """Who is at work at a time, in one query."""
        return []

    # A methods section, a report card

    def shares_in_words(self, study: Study) -> Iterator[str]:
        """Sentences on how many people have, or were to have, the same item."""
        return iter(())

    def course_in_words(
        self, study: Study, states: Mapping[str, int], *, with_reasons: bool = True
    ) -> Iterator[str]:
        """Sentences on how the work went, given how many tasks or sessions are in each state.

        Without reasons nothing stands in them that researchers wrote.
        """
        return iter(())

    def time_in_words(self, study: Study) -> Iterator[str]:
        """Sentences on how much time people have for a task."""
        return iter(())

    def conditions_in_words(self, study: Study) -> Iterator[str]:
        """Sentences on where people work, with which tools."""
        return iter(())

    def labels(self, study: Study, which: str) -> QuerySet[Any, Any]:
        """The labels of a selection of `label_files`, the oldest first."""
        return study.label_tasks.none()

    def label_rows(
        self, study: Study, which: str, labels: QuerySet[Any, Any] | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Rows of the labels of a selection, or of some of them, in the order of `label_columns`."""
        return iter(())

    def told_of(self, study: Study) -> Iterable[Mapping[str, Any]]:
        return objects(self.label_columns, self.label_rows(study, "current"))

    def label_cells(self, rows: Iterator[tuple[Any, ...]]) -> Iterable[Sequence[Any]]:
        """The rows as a table has them, where that differs."""
        return rows


def gaps_of(study: Study) -> Gaps:
    """Gaps of a study; none where its labels were made elsewhere."""
    return work_of(study).gaps(study) if has_plan(study) else Gaps()


def blocked_in(study: Study, gaps: Gaps, user: Any) -> list[Blocked]:
    """Who can be given no task of a study that is not over, and why, as a researcher may know it."""
    return [] if is_over(study) else seen_by(user, gaps.blocked())


def held_in(study: Study, gaps: Gaps) -> list[Holding]:
    """Whose tasks wait for people who cannot do them, unless the study is archived."""
    return [] if study.state == Study.State.ARCHIVED else gaps.held()


def is_over(study: Study) -> bool:
    """Whether no task of a study can be begun any more, unless it is opened again."""
    return study.state in {Study.State.CLOSED, Study.State.ARCHIVED}


def label_formats() -> dict[str, Text]:
    """The forms in which labels can be downloaded, and what they are called."""
    parquet = {"parquet": "Parquet"} if is_available() else {}
    return {"csv": "CSV", "jsonl": "JSON lines", **parquet}


def works() -> list[Work]:
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
    return work_of(study).plan is None or plan_of(study) is not None


def plan_of(study: Study) -> Any:
    """The row of settings of a study; None where it has none."""
    model = work_of(study).plan
    accessor = model._meta.get_field("study").remote_field.get_accessor_name() if model is not None else ""
    return getattr(study, accessor, None)


def with_plans(studies: Any) -> Any:
    """Studies with the settings of every kind, in the same query."""
    models = [work.plan for work in works() if work.plan is not None]
    return studies.select_related(*(model._meta.get_field("study").remote_field.related_name for model in models))


def parts_of(study: Study, *, here: str, may: Callable[[str], bool]) -> list[Part]:
    """The parts of a study with the pages that somebody may open; parts without a page are left out."""
    kind = kind_named(study.kind)
    has_its_plan = not isinstance(kind, Work) or has_plan(study)
    tabs = [tab for tab in kind.all_tabs if may(tab.permission) and (has_its_plan or not tab.needs_plan)]
    parts = [Part(label, tuple(tab for tab in tabs if tab.part == name), here) for name, label in PARTS.items()]
    return [part for part in parts if part.tabs]
