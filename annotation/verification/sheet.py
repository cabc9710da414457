"""The agreement of people on key points, and machines beside them, laid out task by task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.figures.charts import small_dots
from annotation.figures.judge_sections import judge_table
from annotation.figures.sections import people_parts
from annotation.kinds import Headline
from annotation.models import Study
from annotation.results.study_results import StudyResults
from annotation.verification.agreement import (
    ALL,
    CONTROL,
    FAST_S,
    KEY_POINTS,
    GroupRow,
    KeyPointFigures,
    Look,
    PersonRow,
    TaskAgreement,
    figures_json,
)
from annotation.verification.labels import threshold_in
from annotation.verification.machines import FIGURES
from benchmarks.results.sheet import COUNTED, Cell, Measure, Name, Note, Part, Row, Section, Sheet, Table, Unit
from benchmarks.scoring.retention import Task
from benchmarks.web.charts import Chart

LONGEST_KEY = 200


class KeyPointResults(StudyResults[Look, KeyPointFigures]):
    """How far people agree on both judgments and on keeping, on the control group or on all items."""

    computation = KEY_POINTS
    heading = gettext_lazy("Agreement")
    here = "agreement"
    form_template = "annotation/_points_form.html"
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
            nothing = _(
                "No labels yet. Figures appear here as soon as two people have labelled the same key points. "
                "Those of the control group go to everyone."
            )
            return Sheet((Note(nothing, is_empty=True),))
        tasks = (task_section(one) for one in figures.tasks)
        return Sheet((Note(_provenance(figures)), *_chosen_on(study), *tasks))

    def as_json(self, figures: KeyPointFigures) -> Any:
        return figures_json(figures)

    def called(self, figures: KeyPointFigures) -> str:
        return f"key-points-{figures.scope}"

    def headline(self, figures: KeyPointFigures) -> Headline:
        """How many key points were judged, and how far people agree on which are kept."""
        cards = {one.task: one.people.cards for one in figures.tasks}.get(Task.KEEP, {})
        return Headline(figures.n_items, len(figures.people), None, cards.get("percent"), cards.get("randolph"))

    def card(self, figures: KeyPointFigures) -> Chart | None:
        return small_dots(
            _("Randolph's κ of annotators"),
            [(titles()[one.task], one.people.cards["randolph"]) for one in figures.tasks],
            x_label=_("Randolph's κ"),
            caption=_("%(n)d key points, 95 %% intervals") % {"n": figures.n_items},
            n_human=len(figures.tasks),
        )


RESULTS = KeyPointResults()


def titles() -> dict[Task, str]:
    """The tasks in words."""
    return {
        Task.GROUNDED: _("Can it be found in the text?"),
        Task.KEY_POINT: _("Is it a key point?"),
        Task.KEEP: _("Keep"),
    }


def _provenance(figures: KeyPointFigures) -> str:
    points = ngettext("%(n)d key point", "%(n)d key points", figures.n_items) % {"n": figures.n_items}
    questions = ngettext("%(n)d question", "%(n)d questions", figures.n_questions) % {"n": figures.n_questions}
    words = (
        _("Control group: %(points)s of %(questions)s, which are resampled for the 95 %% intervals.")
        if figures.scope == CONTROL
        else _("All items: %(points)s of %(questions)s, which are resampled for the 95 %% intervals.")
    )
    return words % {"points": points, "questions": questions}


def _chosen_on(study: Study) -> Iterator[Note]:
    """A warning where a version of the dataset chose its people on the same items. One query."""
    version = study.dataset_versions.exclude(selection_seed=None).order_by("-number").first()
    if version is None:
        return
    seed = version.selection_seed
    words = _(
        "People were also chosen on these items: version %(n)d of the dataset took one half of them (seed "
        "%(seed)d), so that figures of its annotators are too high here."
    )
    yield Note(words % {"n": version.number, "seed": seed}, warns=True)
    yield Note(
        _("The half held out"), url=f"{reverse('annotation:verification-choosing', args=[study.uid])}?seed={seed}"
    )


def task_section(found: TaskAgreement) -> Section:
    """One task: people among themselves, machines beside them, groups of questions, and each annotator."""
    how = {
        Task.GROUNDED: _("Task 1, yes or no."),
        Task.KEY_POINT: _("Task 2, agree, neutral or disagree; missing for whoever said no in task 1."),
        Task.KEEP: _("Derived: keep is yes and agree, everything else is drop."),
    }[found.task]
    n = found.people.n_pairable
    answered = ngettext(
        "%(n)d key point has two or more answers.", "%(n)d key points have two or more answers.", n
    ) % {"n": n}
    return Section(
        f"task-{found.task}",
        titles()[found.task],
        tuple(_parts(found, f"{found.task}-")),
        about=f"{how} {answered}",
        badge=f"q = {found.people.q}",
    )


def _parts(found: TaskAgreement, prefix: str) -> Iterator[Part]:
    groups = (
        _groups(found.by_category, f"{prefix}category", _("Category")),
        _groups(found.by_domain, f"{prefix}domain", _("Domain")),
    )
    persons = _persons(found.persons, f"{prefix}persons")
    if found.people.n_pairable:
        yield from people_parts(found.people, prefix=prefix)
        if found.machines is not None and found.machines.rows:
            report = replace(found.machines, highest=None)  # of a correlation, which machines here have not
            table = judge_table(report, key=f"{prefix}machines", only=tuple(FIGURES.values()))
            yield replace(
                table,
                title=_("Machines beside people"),
                names=(Name("judge", _("Against people")),),
                measures=tuple(one for one in table.measures if one.key != "cost"),
                about=_(
                    "Models and AutoDS scores against people, on key points with two or more answers: against "
                    "each annotator, then the mean. The row of people averages the same figures over pairs."
                ),
            )
        yield Section(f"{prefix}groups", "", groups, is_side_by_side=True)
    else:
        yield Note(_("No key point has two answers, so there is no agreement to show."), warns=True)
    yield persons


def _groups(rows: Sequence[GroupRow], key: str, title: str) -> Table:
    return Table(
        key,
        title,
        (Name("name", title),),
        (COUNTED, Measure("percent", _("Agreement"), Unit.SHARE), Measure("randolph", _("Randolph κ"))),
        tuple(
            Row((row.name,), {"n": row.percent.n_items, "percent": row.percent, "randolph": row.randolph})
            for row in rows
        ),
        about=_("Agreement inside each part; questions are resampled."),
    )


def _persons(persons: Sequence[PersonRow], key: str) -> Table:
    labels = [label for label, _n, _share in persons[0].shares] if persons else []
    about = _(
        "Median active seconds per key point; fast means under %(seconds)d s, which is a reason to look, "
        "not proof."
    )
    return Table(
        key,
        _("Answers and speed of each annotator"),
        (Name("name", _("Annotator")),),
        (
            Measure("n", _("Answers"), Unit.COUNT),
            *(Measure(label, label, Unit.SHARE) for label in labels),
            Measure("median", _("Median s"), Unit.SECONDS),
            Measure("fast", _("Fast"), Unit.SHARE),
            Measure("n_timed", _("Timed"), Unit.COUNT, _("answers whose active time is known")),
        ),
        tuple(_person(row) for row in persons),
        about=about % {"seconds": FAST_S},
    )


def _person(row: PersonRow) -> Row:
    shares = {label: Cell(share, aside=str(count)) for label, count, share in row.shares}
    fast = Cell(row.n_fast / row.n_timed, aside=f"{row.n_fast} / {row.n_timed}") if row.n_timed else None
    return Row((row.name,), {**shares, "n": row.n, "median": row.median_s, "fast": fast, "n_timed": row.n_timed})
