"""The figures on key points laid out: on their page, and for manage.py report agreement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.core.management.base import CommandError
from django.http import HttpRequest, QueryDict
from django.urls import reverse

from annotation.kinds import Headline
from annotation.models import Study
from annotation.results.charts import small_dots
from annotation.results.judge_sections import judge_table
from annotation.results.planning import Plannable, agreement_of, published_agreement
from annotation.results.reports import people_called, refuse_filters
from annotation.results.sections import counts_of, notable, people_parts, questions_look
from annotation.results.spending import Answers
from annotation.results.study_results import StudyResults
from annotation.studies.amounts import in_figures
from annotation.verification.labels import (
    ALL,
    CONTROL,
    PAPER_THRESHOLD,
    ExternalAnswer,
    Look,
    PointTable,
    Stratum,
    StratumRow,
    collect,
    external_point_table,
    judges_points,
    key_points_of,
    threshold_in,
    threshold_of,
)
from annotation.verification.results import (
    FAST_S,
    FIGURES,
    KEY_POINTS,
    GroupRow,
    KeyPointFigures,
    PersonRow,
    TaskAgreement,
    figures_json,
    machines,
    task_agreement,
    task_json,
)
from benchmarks.io.schemas.plain_labels import POINT_CATEGORIES, PlainLabels
from benchmarks.models import KeyPointVerdict
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import (
    COUNTED,
    Cell,
    Fragment,
    Measure,
    Name,
    Note,
    Part,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    first_look,
)
from benchmarks.scoring.retention import Task
from benchmarks.web.charts import Chart

LONGEST_KEY = 200


class KeyPointResults(StudyResults[Look, KeyPointFigures]):
    """How far people agree on both judgments and on keeping, on the control group or on all items."""

    computation = KEY_POINTS
    as_json = staticmethod(figures_json)
    published = published_agreement(
        "Randolph's κ: is it a key point?",
        "as two people agree in Long²RAG, κ .56",
        percent=0.707,
        q=3,
    )
    heading = "Agreement"
    here = "agreement"
    form_template = "results/_form.html"
    downloads_template = "annotation/_points_downloads.html"

    def options(self, study: Study, query: QueryDict) -> Look:
        scope = query.get("scope", "")
        return Look(
            study.pk,
            threshold_in(query, study),
            scope if scope in {CONTROL, ALL} else "",
            tuple(sorted({key[:LONGEST_KEY] for key in query.getlist("annotator")})),
        )

    def sheet(self, study: Study, figures: KeyPointFigures, query: QueryDict) -> Sheet:
        if not figures.people:
            nothing = (
                "No labels yet. Figures appear here as soon as two people have labelled the same key points. "
                "Those of the control group go to everyone."
            )
            return Sheet(first_look(nothing))
        titled = [(task.task.value, titles()[task.task], task.people) for task in figures.tasks]
        chart = self.card(figures)
        machines = Fragment("annotation/_points_run.html", {"is_here": study.kind == Study.Kind.VERIFICATION})
        details = (*_pairs(figures.strata), *(task_section(task) for task in figures.tasks))
        parts = questions_look(
            titled,
            chart=chart and replace(chart, words=replace(chart.words, is_small=False, name="questions-kappa")),
            more=(*details, machines),
            reading=[_provenance(figures)],
        )
        return Sheet((*parts, *_chosen_on(study)))

    def beside(
        self, request: HttpRequest, study: Study, options: Look, figures: KeyPointFigures
    ) -> dict[str, Any]:
        return {"form": PointsForm(figures, options) if figures.people else None}

    def judged(self, study: Study, options: Look, figures: KeyPointFigures) -> Judged:
        rows = (row for task in figures.tasks for row in (task.machines.rows if task.machines else ()))
        return Judged(others=tuple(dict.fromkeys(row.key for row in rows)))

    def plannable(self, study: Study) -> Sequence[Plannable]:
        table, names = collect(study), titles()
        return [
            agreement_of(task.value, f"Randolph's κ: {names[task]}", "questions",
                         table.ratings(task))
            for task in names
        ]  # fmt: skip

    def model_answers(self, study: Study) -> Sequence[Answers]:
        rows = KeyPointVerdict.objects.counted().filter(key_point__in=key_points_of(study), repeat=0)
        return [Answers(rows, ("key_point",))]

    def archived(self, options: Look) -> Look:
        """Those of all items: labels that come back from an archive know of no control group."""
        return replace(options, is_public=True, scope=ALL)

    def chosen(self, figures: KeyPointFigures) -> str:
        return "control group" if figures.scope == CONTROL else "all items"

    def called(self, figures: KeyPointFigures) -> str:
        return f"key-points-{figures.scope}"

    def headline(self, figures: KeyPointFigures) -> Headline:
        people = {task.task: task.people for task in figures.tasks}.get(Task.KEEP)
        cards = people.cards if people else {}
        of = " of the control group" if figures.scope == CONTROL else ""
        return Headline(
            figures.n_items,
            len(figures.people),
            None,
            cards.get("percent"),
            cards.get("randolph"),
            counted=in_figures(figures.n_items, "key point", "key points") + of,
            notable=notable(people) if people else (),
        )

    def card(self, figures: KeyPointFigures) -> Chart | None:
        return small_dots(
            "Randolph's κ of annotators",
            [(titles()[task.task], task.people.cards["randolph"]) for task in figures.tasks],
            x_label="Randolph's κ",
            caption=f"{figures.n_items} key points",
            n_human=len(figures.tasks),
        )


class PointsForm(forms.Form):
    """Which key points and people count, and from which score on AutoDS keeps a point."""

    scope = forms.ChoiceField(
        label="Items", choices=[(CONTROL, "control group"), (ALL, "all, where two labelled")]
    )
    annotator = forms.MultipleChoiceField(label="Annotators")
    threshold = forms.FloatField(label="AutoDS keeps from", widget=forms.NumberInput(attrs={"step": "any"}))

    def __init__(self, figures: KeyPointFigures, options: Look) -> None:
        chosen = {"scope": figures.scope, "annotator": list(options.people), "threshold": figures.threshold}
        super().__init__(initial=chosen, use_required_attribute=False)
        self.defaults = {"threshold": figures.threshold, "scope": CONTROL if figures.has_control else ALL}
        if not figures.has_control:
            del self.fields["scope"]
        if len(figures.people) > 2:
            self.fields["annotator"].choices = figures.people  # type: ignore[attr-defined]
        else:
            del self.fields["annotator"]


RESULTS = KeyPointResults()


def titles() -> dict[Task, str]:
    return {
        Task.GROUNDED: "Can it be found in the text?",
        Task.KEY_POINT: "Is it a key point?",
        Task.KEEP: "Keep",
    }


def _provenance(figures: KeyPointFigures) -> str:
    points = in_figures(figures.n_items, "key point", "key points")
    questions = in_figures(figures.n_questions, "question", "questions")
    which = "Control group" if figures.scope == CONTROL else "All items"
    return f"{which}: {points} of {questions}, which are resampled for the 95 % intervals."


def _chosen_on(study: Study) -> Iterator[Note]:
    """A warning where a version of the dataset chose its people on the same items. One query."""
    version = study.dataset_versions.exclude(selection_seed=None).order_by("-number").first()
    if version is None:
        return
    seed = version.selection_seed
    words = (
        f"People were also chosen on these items: version {version.number} of the dataset took one half of them "
        f"(seed {seed}), so that figures of its annotators are too high here."
    )
    yield Note(words, warns=True)
    yield Note(
        "The half held out", url=f"{reverse('annotation:verification-choosing', args=[study.uid])}?seed={seed}"
    )


def _pairs(strata: Sequence[StratumRow]) -> Iterator[Section]:
    """Answers on documents of a haystack against its plan, where the study asks about that."""
    if not strata:
        return
    names = {
        Stratum.PLANNED: "planned, and not said: missed",
        Stratum.CLOSE: "not planned, close by words, and said: leaked",
        Stratum.FAR: "not planned, far by words, and said: leaked",
    }
    table = Table(
        "pairs",
        "Against the plan",
        (Name("stratum", "Pairs of an insight and a document"),),
        (
            COUNTED,
            Measure("wrong", "Share", Unit.SHARE),
            Measure("expected", "Of all", Unit.COUNT, "the share of all such pairs of the haystack"),
            Measure("all", "Pairs", Unit.COUNT, "such pairs in the haystack"),
            Measure("tied", "Undecided", Unit.COUNT, "as many yes as no"),
        ),
        tuple(
            Row(
                (names[Stratum(row.name)],),
                {
                    "n": row.wrong.n_items,
                    "wrong": row.wrong,
                    "expected": None if row.n_expected is None else round(row.n_expected),
                    "all": row.n_pairs,
                    "tied": row.n_tied,
                },
            )
            for row in strata
        ),
        about="By the majority of all answers to each pair, with Wilson's intervals, pairs as independent.",
    )
    yield Section("against-plan", "What documents say against the plan of the haystack", (table,))


def task_section(agreement: TaskAgreement) -> Section:
    """One task: people among themselves, machines beside them, groups of questions, and each annotator."""
    how = {
        Task.GROUNDED: "Task 1, yes or no.",
        Task.KEY_POINT: "Task 2, agree, neutral or disagree; missing for whoever said no in task 1.",
        Task.KEEP: "Derived: keep is yes and agree, everything else is drop.",
    }[agreement.task]
    n = agreement.people.n_pairable
    answered = in_figures(n, "key point has two or more answers.", "key points have two or more answers.")
    return Section(
        f"task-{agreement.task}",
        titles()[agreement.task],
        tuple(_parts(agreement, f"{agreement.task}-")),
        about=f"{how} {answered}",
        badge=f"q = {agreement.people.q}",
    )


def _parts(agreement: TaskAgreement, prefix: str) -> Iterator[Part]:
    groups = (
        _groups(agreement.by_category, f"{prefix}category", "Category"),
        _groups(agreement.by_domain, f"{prefix}domain", "Domain"),
    )
    persons = _persons(agreement.persons, f"{prefix}persons")
    if agreement.people.n_pairable:
        yield from people_parts(agreement.people, prefix=prefix)
        if agreement.machines is not None and agreement.machines.rows:
            report = replace(agreement.machines, highest=None)  # of a correlation, which machines here have not
            table = judge_table(report, key=f"{prefix}machines", only=tuple(FIGURES.values()))
            yield replace(
                table,
                title="Machines beside people",
                names=(Name("judge", "Against people"),),
                measures=tuple(measure for measure in table.measures if measure.key != "cost"),
                is_folded=True,
                about=(
                    "Models and AutoDS scores against people, on key points with two or more answers: against "
                    "each annotator, then the mean. The row of people averages the same figures over pairs."
                ),
            )
        yield Section(f"{prefix}groups", "", groups, is_side_by_side=True)
    else:
        yield Note("No key point has two answers, so there is no agreement to show.", warns=True)
    yield persons


def _groups(rows: Sequence[GroupRow], key: str, title: str) -> Table:
    return Table(
        key,
        title,
        (Name("name", title),),
        (COUNTED, Measure("percent", "Agreement", Unit.SHARE), Measure("randolph", "Randolph κ")),
        tuple(
            Row((row.name,), {"n": row.percent.n_items, "percent": row.percent, "randolph": row.randolph})
            for row in rows
        ),
        about="Agreement inside each part; questions are resampled.",
        is_folded=True,
    )


def _persons(persons: Sequence[PersonRow], key: str) -> Table:
    labels = [label for label, _n, _share in persons[0].shares] if persons else []
    fast = f"fast means under {FAST_S:g} s, which is a reason to look, not proof."
    return Table(
        key,
        "Answers and speed of each annotator",
        (Name("name", "Annotator"),),
        (
            Measure("n", "Answers", Unit.COUNT),
            *(Measure(label, label, Unit.SHARE) for label in labels),
            Measure("median", "Median s", Unit.SECONDS),
            Measure("fast", "Fast", Unit.SHARE),
            Measure("n_timed", "Timed", Unit.COUNT, "answers whose active time is known"),
        ),
        tuple(_person(row) for row in persons),
        about=f"Median active seconds per key point; {fast}",
        is_folded=True,
    )


def _person(row: PersonRow) -> Row:
    shares = {label: Cell(share, aside=str(count)) for label, count, share in row.shares}
    fast = Cell(row.n_fast / row.n_timed, aside=f"{row.n_fast} / {row.n_timed}") if row.n_timed else None
    return Row((row.name,), {**shares, "n": row.n, "median": row.median_s, "fast": fast, "n_timed": row.n_timed})


@dataclass(frozen=True, slots=True)
class PointsReport:
    """One judgment on key points; AutoDS scores keep from `threshold` on."""

    task: TaskAgreement
    scope: str
    threshold: float

    def as_json(self) -> dict[str, Any]:
        return task_json(self.task) | {"scope": self.scope, "autods_threshold": self.threshold}

    def sheet(self) -> Sheet:
        return Sheet((counts_of(self.task.people), task_section(self.task)))


def report_of(study: Study, options: Mapping[str, Any]) -> PointsReport | None:
    """That of a verification study, or of judgments made elsewhere if their task is named."""
    if study.kind != Study.Kind.VERIFICATION and not (options["task"] in set(Task) and judges_points(study)):
        return None
    threshold = options["threshold"]
    if threshold is not None and not 0 <= threshold <= 1:
        raise CommandError("--threshold is a number from 0 to 1.")
    threshold = threshold_of(study) if threshold is None else threshold
    return _report(collect(study), options, threshold=threshold, study=study)


def report_in(labels: PlainLabels, options: Mapping[str, Any]) -> PointsReport | None:
    """That of labels in a file, if they have the categories of a task that is named."""
    if labels.categories != POINT_CATEGORIES or options["task"] not in set(Task):
        return None
    rows = (ExternalAnswer(row.annotator, row.task, row.item, row.label, row.cluster) for row in labels.labels)
    return _report(external_point_table(rows), options, threshold=PAPER_THRESHOLD)


def _report(
    table: PointTable, options: Mapping[str, Any], *, threshold: float, study: Study | None = None
) -> PointsReport:
    if options["task"] not in set(Task):
        raise CommandError(f"Name a task with --task: {', '.join(Task)}.")
    refuse_filters(options, "judgments on key points")
    task = Task(options["task"])
    if chosen := {*options["annotator"]}:
        table = table.with_people(people_called(chosen, table.people))
    if options["control"]:
        table = table.control()
    if not (table.codes(task) >= 0).any():
        raise CommandError("There are no labels here; import some, or choose others.")
    scope = "control group" if options["control"] else "all items"
    beside = machines(study, table, threshold=threshold) if study else ()
    return PointsReport(task_agreement(table.anonymous(), task, beside=beside), scope, threshold)
