"""Answers on key points as arrays, of a study or made elsewhere, and what their figures depend on."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from django.db.models import Count, Max, QuerySet, Sum
from django.http import QueryDict

from annotation.models import Annotator, ExternalLabel, ExternalVerdict, LabelItem, PointLabel, Study
from annotation.results.study import study_or_gone
from annotation.results.table import LabelTable, Rater
from benchmarks.io.schemas.plain_labels import POINT_TASKS
from benchmarks.models import AutodsScore, Haystack, Judge, KeyPoint, KeyPointVerdict
from benchmarks.models.querysets import counted_judges
from benchmarks.scoring.intervals import wilson
from benchmarks.scoring.ratings import MISSING, Ratings
from benchmarks.scoring.retention import CATEGORIES, Task, task_codes
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.sums import Bools, Floats, Ints

CHUNK = 5_000
PAPER_THRESHOLD = 0.7
STORED_TASKS = (Task.GROUNDED, Task.KEY_POINT)
CODES = {task: {label: code for code, label in enumerate(CATEGORIES[task])} for task in STORED_TASKS}


CONTROL, ALL = "control", "all"


@dataclass(frozen=True, slots=True)
class Look:
    """Which items and people of a study count: the options of the stored figures.

    `scope` is the control group or all items, empty for the control group where there is one; `threshold` is where
    AutoDS scores begin to keep. With `is_public` people appear under their pseudonyms.
    """

    study: int
    threshold: float
    scope: str = ""
    people: tuple[str, ...] = ()
    is_public: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PointTable:
    """Labels of n key points by k people.

    `grounded` and `keyness`, shape (n, k), hold positions in the categories of their task, -1 for none; `keyness`
    is as stored. `questions`, shape (n,), numbers the question of each point. `autods`, shape (n,), and `seconds`
    of active time, shape (n, k), are NaN where unknown. `points` are primary keys, none for external ones.
    """

    points: tuple[int, ...]
    items: tuple[str, ...]
    questions: Ints
    categories: tuple[str, ...]
    domains: tuple[str, ...]
    is_control: Bools
    autods: Floats
    people: tuple[Rater, ...]
    grounded: Ints
    keyness: Ints
    seconds: Floats

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_questions(self) -> int:
        return len(np.unique(self.questions))

    def codes(self, task: Task) -> Ints:
        """Answers to a task, shape (n, k): positions in its categories, -1 for none."""
        return task_codes(self.grounded, self.keyness, task)

    def ratings(self, task: Task) -> Ratings:
        """A task as the agreement figures take it, questions as clusters."""
        keys = tuple(person.key for person in self.people)
        return Ratings(self.codes(task), CATEGORIES[task], keys, tuple(self.questions.tolist()))

    def label_table(self, task: Task, *, only_rated: bool = True) -> LabelTable:
        """A task as the tables and reports of agreement take it: the points that somebody answered, or all."""
        codes = self.codes(task)
        numbers, clusters = np.unique(self.questions, return_inverse=True)
        unknown = np.full(self.n_items, -1, dtype=np.int64)
        table = LabelTable(
            categories=CATEGORIES[task],
            people=self.people,
            judges=(),
            codes=codes,
            links=np.zeros(codes.shape, dtype=object),
            is_single=np.zeros(codes.shape, dtype=bool),
            versions=np.zeros(codes.shape, dtype=np.int64),
            clusters=clusters.astype(np.int64),
            n_clusters=len(numbers),
            cluster_unit="questions",
            summary_of=unknown,
            insights=unknown,
            summaries=(),
            items=self.items,
            n_invalid=(),
        )
        return (table.only(table.rated) if only_rated else table).in_order_of_content()

    def only(self, mask: Bools) -> PointTable:
        """The key points for which `mask`, shape (n,), is true."""

        def kept(values: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(value for value, keep in zip(values, mask, strict=True) if keep)

        return replace(
            self,
            points=kept(self.points) if self.points else (),
            items=kept(self.items),
            questions=self.questions[mask],
            categories=kept(self.categories),
            domains=kept(self.domains),
            is_control=self.is_control[mask],
            autods=self.autods[mask],
            grounded=self.grounded[mask],
            keyness=self.keyness[mask],
            seconds=self.seconds[mask],
        )

    def control(self) -> PointTable:
        return self.only(self.is_control)

    def anonymous(self) -> PointTable:
        """The same under the names that may leave the site."""
        return replace(self, people=tuple(replace(rater, name=rater.pseudonym) for rater in self.people))

    def with_people(self, keys: Iterable[str]) -> PointTable:
        """Only some people's labels; every key point stays."""
        wanted = set(keys)
        columns = [at for at, person in enumerate(self.people) if person.key in wanted]
        return replace(
            self,
            people=tuple(self.people[at] for at in columns),
            grounded=self.grounded[:, columns],
            keyness=self.keyness[:, columns],
            seconds=self.seconds[:, columns],
        )


def collect(study: Study) -> PointTable:
    """The labels of a verification study, or external ones; three queries, or one."""
    if study.kind != Study.Kind.EXTERNAL:
        return _of_study(study)
    rows = ExternalLabel.objects.filter(study=study, task__in=STORED_TASKS).order_by("pk")
    values = rows.values_list("annotator__label", "task", "item", "label", "cluster")
    return external_point_table(ExternalAnswer(*row) for row in values.iterator(chunk_size=CHUNK))


def judges_points(study: Study) -> bool:
    """Whether labels that were made elsewhere are judgments on key points."""
    return ExternalLabel.objects.filter(study=study, task__in=POINT_TASKS).exists()


def key_points_of(study: Study) -> QuerySet[Any, Any]:
    """The keys of the key points of a study, for other queries; attention checks are none of them."""
    return _ordinary(study).order_by().values("key_point")


def _ordinary(study: Study) -> QuerySet[LabelItem]:
    return LabelItem.objects.filter(study=study, role=LabelItem.Role.ORDINARY, key_point__isnull=False)


def _items_of(study: Study) -> list[tuple[Any, ...]]:
    """Everything that figures take from the items of a study. One query."""
    return list(
        _ordinary(study)
        .order_by("key_point__question__dataset", "key_point__question__key", "key_point__number")
        .values_list(
            "key_point_id",
            "key_point__uid",
            "key_point__question_id",
            "key_point__question__category",
            "key_point__question__domain",
            "is_overlap",
            "key_point__autods",
        )
    )


def _of_study(study: Study) -> PointTable:
    """All key points of the study, labelled or not; attention checks are none of them. Three queries."""
    members = study.memberships.select_related("annotator").order_by("number")
    raters = {
        member.annotator_id: Rater(str(member.annotator.uid), member.annotator.label, member.pseudonym)
        for member in members
    }
    items = _items_of(study)
    labels = list(
        PointLabel.objects.filter(study=study)
        .for_figures()
        .order_by()
        .values_list("annotator_id", "key_point_id", "grounded", "keyness", "task__active_ms")
    )
    who = {row[0] for row in labels}
    people = [pk for pk in raters if pk in who]
    place = {row[0]: at for at, row in enumerate(items)}
    column = {pk: at for at, pk in enumerate(people)}
    shape = (len(items), len(people))
    grounded, keyness = np.full(shape, MISSING, dtype=np.int64), np.full(shape, MISSING, dtype=np.int64)
    seconds = np.full(shape, np.nan)
    for person, point, yes, key, active_ms in labels:
        if point not in place or person not in column:
            continue
        at = place[point], column[person]
        grounded[at] = CODES[Task.GROUNDED][yes]
        keyness[at] = CODES[Task.KEY_POINT].get(key, MISSING)
        seconds[at] = active_ms / 1000
    numbers: dict[int, int] = {}
    return PointTable(
        points=tuple(place),
        items=tuple(str(row[1]) for row in items),
        questions=np.array([numbers.setdefault(row[2], len(numbers)) for row in items], dtype=np.int64),
        categories=tuple(row[3] for row in items),
        domains=tuple(row[4] for row in items),
        is_control=np.array([row[5] for row in items], dtype=bool),
        autods=np.array([np.nan if row[6] is None else row[6] for row in items], dtype=np.float64),
        people=tuple(raters[pk] for pk in people),
        grounded=grounded,
        keyness=keyness,
        seconds=seconds,
    )


@dataclass(frozen=True, slots=True)
class ExternalAnswer:
    """One external answer; `cluster` is the question, if it is known."""

    annotator: str
    task: str
    item: str
    label: str
    cluster: str = ""


def external_point_table(rows: Iterable[ExternalAnswer]) -> PointTable:
    """External answers, task by task. What everyone answered stands for the control group."""
    people: dict[str, int] = {}
    items: dict[str, int] = {}
    cluster_of: dict[str, str] = {}
    cells: dict[Task, list[tuple[int, int, int]]] = defaultdict(list)
    for row in rows:
        task = Task(row.task)
        at = items.setdefault(row.item, len(items))
        if row.cluster:
            cluster_of[row.item] = row.cluster
        cells[task].append((at, people.setdefault(row.annotator, len(people)), CODES[task][row.label]))
    shape = (len(items), len(people))
    codes = {task: np.full(shape, MISSING, dtype=np.int64) for task in STORED_TASKS}
    for task, cells_of_task in cells.items():
        for at, person, code in cells_of_task:
            codes[task][at, person] = code
    names = [f"question {cluster_of[item]}" if item in cluster_of else f"item {item}" for item in items]
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    first = codes[Task.GROUNDED] if cells[Task.GROUNDED] else codes[Task.KEY_POINT]
    return PointTable(
        points=(),
        items=tuple(items),
        questions=np.array([numbers[name] for name in names], dtype=np.int64),
        categories=("",) * len(items),
        domains=("",) * len(items),
        is_control=(first != MISSING).all(axis=1),
        autods=np.full(len(items), np.nan),
        people=tuple(Rater(name, name, name) for name in people),
        grounded=codes[Task.GROUNDED],
        keyness=codes[Task.KEY_POINT],
        seconds=np.full(shape, np.nan),
    )


def data_version(study: Study) -> str:
    """Changes with all that `collect` reads: answers, time, names, items and their scores. Three queries."""
    rows: Any
    items: list[tuple[Any, ...]] = []
    facts: dict[str, Any] = {"n": Count("pk"), "last": Max("pk"), "total": Sum("pk")}
    if study.kind == Study.Kind.EXTERNAL:
        rows = ExternalLabel.objects.filter(study=study, task__in=STORED_TASKS)
        people = Annotator.objects.filter(pk__in=rows.order_by().values("annotator"))
        names = list(people.order_by("pk").values_list("pk", "label"))
    else:
        rows = PointLabel.objects.filter(study=study).for_figures()
        facts |= {"active_ms": Sum("task__active_ms")}
        names = list(study.memberships.order_by("number").values_list("number", "annotator__label"))
        items = _items_of(study)
    state = (study.pk, sorted(rows.order_by().aggregate(**facts).items()), names, items)
    return hashlib.sha256(repr(state).encode()).hexdigest()[:12]


def said_by_judges(study: Study) -> QuerySet[Any, Any]:
    """Judges' answers as (judge, key point, judgment, answer): keys, or the name of an item made elsewhere."""
    if study.kind == Study.Kind.EXTERNAL:
        said = ExternalVerdict.objects.filter(counted_judges("judge__"), study=study, task__in=STORED_TASKS)
        return said.values_list("judge", "item", "task", "label")
    verdicts = KeyPointVerdict.objects.counted().filter(key_point__in=key_points_of(study), repeat=0)
    return verdicts.values_list("judge", "key_point", "judgment", "answer")


def facts_of(look: Any) -> object:
    study = study_or_gone(look.study)
    points = key_points_of(study)
    judges = list(Judge.objects.counted().order_by("pk").values_list("pk", "name", "version", "kind"))
    scores = AutodsScore.objects.counted().filter(key_point__in=points)
    facts = {"n": Count("pk"), "last": Max("pk"), "total": Sum("pk")}
    answers = [rows.order_by().aggregate(**facts) for rows in (said_by_judges(study), scores)]
    return data_version(study), hashlib.sha256(repr((judges, answers)).encode()).hexdigest()[:12]


def threshold_of(study: Study) -> float:
    """The AutoDS threshold of the newest dataset of a study, else the paper's."""
    newest = study.dataset_versions.order_by("-number").first()
    known = newest.autods_threshold if newest is not None else None
    return PAPER_THRESHOLD if known is None else known


def threshold_in(query: QueryDict, study: Study) -> float:
    """The threshold of an address, from 0 to 1, else that of the study."""
    try:
        value = float(query.get("threshold", ""))
    except ValueError:
        return threshold_of(study)
    return value if 0 <= value <= 1 else threshold_of(study)


class Stratum(StrEnum):
    """Knowledge of a pair before anybody reads: planned, or not and more or less alike by words."""

    PLANNED = "planned"
    CLOSE = "close"
    FAR = "far"


SIZES: list[Callable[[Haystack], Mapping[Stratum, int]]] = []
"""How many pairs of each stratum a haystack has; of the extension that draws pairs."""


@dataclass(frozen=True, slots=True)
class StratumRow:
    """Pairs of one stratum: how many the haystacks have, how many people decided on, and how many they find said.

    `wrong` is the share that does not fit the plan: planned and not said, or not planned and said.
    """

    name: str
    n_pairs: int
    n_drawn: int
    n_tied: int
    wrong: Stat

    @property
    def n_expected(self) -> float | None:
        """How many of all pairs of the stratum are wrong, by the share."""
        return None if self.wrong.value is None else self.wrong.value * self.n_pairs


def haystacks_of(study: Study) -> QuerySet[Haystack]:
    """Those whose insights are key points of a study."""
    return Haystack.objects.filter(questions__label_items__study=study).distinct()


def strata_of(study: Study, table: PointTable) -> tuple[StratumRow, ...]:
    """Answers of people in each stratum, by the majority of each pair; empty where the study has no pairs."""
    rows = KeyPoint.objects.filter(pk__in=key_points_of(study), question__haystack__isnull=False)
    places = rows.values_list("pk", "key", "question__haystack")
    known = {pk: (stratum_of(key), haystack) for pk, key, haystack in places}
    if not known or not SIZES:
        return ()
    sizes: Counter[Stratum] = Counter()
    for haystack in Haystack.objects.filter(pk__in={haystack for _stratum, haystack in known.values()}):
        sizes.update(SIZES[0](haystack))
    strata = {pk: stratum for pk, (stratum, _haystack) in known.items()}
    yes, no = (CATEGORIES[Task.GROUNDED].index(answer) for answer in ("yes", "no"))
    said: dict[Stratum, list[bool | None]] = defaultdict(list)
    for point, codes in zip(table.points, table.grounded, strict=True):
        n_yes, n_no = int(np.sum(codes == yes)), int(np.sum(codes == no))
        if point in strata and n_yes + n_no:
            said[strata[point]].append(None if n_yes == n_no else n_yes > n_no)
    drawn = Counter(stratum for stratum, _haystack in known.values())
    return tuple(
        StratumRow(
            name=stratum,
            n_pairs=sizes[stratum],
            n_drawn=drawn[stratum],
            n_tied=sum(answer is None for answer in said[stratum]),
            wrong=_wrong(stratum, [answer for answer in said[stratum] if answer is not None]),
        )
        for stratum in Stratum
        if drawn[stratum]
    )


def stratum_of(key: str) -> Stratum:
    return Stratum(key.partition(":")[0])


def _wrong(stratum: Stratum, said: Sequence[bool]) -> Stat:
    is_planned = stratum == Stratum.PLANNED
    return wilson(sum(answer != is_planned for answer in said), len(said), method="share")
