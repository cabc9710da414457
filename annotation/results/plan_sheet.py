"""The plan of a study laid out: what would be enough, the width of each headline at more people and items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.http import QueryDict
from django.utils.text import capfirst

from annotation.kinds import Tab, kind_named
from annotation.models import Study
from annotation.results.planning import PLAN, Design, Plan, Plannable, Planned, Target, Work
from annotation.results.spending import Spent
from annotation.results.study import OfStudy
from annotation.results.study_results import StudyResults
from annotation.studies.amounts import in_figures
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import (
    Cell,
    Drawing,
    Measure,
    Name,
    Note,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    values_of,
)
from benchmarks.results.stored import look_up_many
from benchmarks.results.writing import number
from benchmarks.scoring.stat import Stat, stat_json
from benchmarks.web.charts import Chart, Kind, Lines, Point, Words, colour_of

TAB = Tab("plan", "How many more?", "annotation:study-plan", "results", "annotation.view_session")


class PlanResults(StudyResults[OfStudy, Plan]):
    computation = PLAN
    heading = "How many more labels are enough?"
    here = TAB.here
    downloads_template = ""

    def judged(self, study: Study, options: OfStudy, figures: Plan) -> Judged:
        """Those whose answers' cost stands beside that of people."""
        keys = tuple(spent.judge for spent in figures.spent if spent.judge)
        return Judged(keys, is_beside=True) if kind_named(study.kind).is_of_coverage else Judged(others=keys)

    def sheet(self, study: Study, figures: Plan, query: QueryDict) -> Sheet:
        return sheet(figures)

    def as_json(self, figures: Plan) -> Any:
        return as_json(figures)


RESULTS = PlanResults()


def sheet(plan: Plan) -> Sheet:
    costs = (_costs(plan.spent),) if any(spent.n_answers or spent.n_tasks for spent in plan.spent) else ()
    if not any(planned.designs for planned in plan.planned):
        none = ("There are too few labels to plan by. Figures appear here once two people have labelled the same "
                 "items of two subtopics, or two sessions have ended.")  # fmt: skip
        return Sheet((Note(none, is_empty=not costs), *_item_costs(plan.spent), *costs))
    sections = (_section(planned, plan.work) for planned in plan.planned if planned.designs)
    return Sheet((Note(_so_far(plan.work)), *_item_costs(plan.spent), *sections, *costs))


def next_step_of(study: Study, now: datetime) -> str:
    """Next step towards a narrower first headline, as last computed; empty before that."""
    [shown] = look_up_many(PLAN, [OfStudy(study.pk)], now=now)
    step = "" if shown.figures is None else next_step(shown.figures)
    return f"{step} Provisional: figures are being computed anew." if step and shown.is_waiting else step


def next_step(plan: Plan) -> str:
    """Labels that bring the first headline to the next round half width; empty where nothing can be planned."""
    planned = next((planned for planned in plan.planned if planned.designs), None)
    if planned is None or planned.headline.variances is None:
        return ""
    known = planned.headline.variances
    ahead = [
        target for target in reversed(planned.targets) if target.n_items is None or target.n_items > known.n_items
    ]
    if ahead:
        return _enough(ahead[0], planned.headline, plan.work)
    half = planned.headline.factor * planned.designs[0].width.expected / 2
    width = _half(float(f"{half:.2g}"), planned.headline)
    return f"{planned.headline.title} is known to ± {width}: more labels are hardly needed."


def _costs(spent: Sequence[Spent]) -> Section:
    """Costs of people and models, side by side: in all, an item, an answer, a finished task."""
    tasks = "sessions, in a writing study"
    measures = (
        Measure("items", "Items", Unit.COUNT, of=attrgetter("n_items")),
        Measure("answers", "Answers", Unit.COUNT, of=attrgetter("n_answers")),
        Measure("tasks", "Finished tasks", Unit.COUNT, tasks, of=attrgetter("n_tasks")),
        Measure("hours", "Hours", Unit.POINTS, "active time, also of unfinished tasks"),
        Measure("total", "In all", Unit.MONEY),
        Measure("per_item", "An item", Unit.MONEY, of=lambda it: it.each(it.n_items)),
        Measure("per_answer", "An answer", Unit.MONEY, of=lambda it: _each(it, it.n_answers)),
        Measure("per_task", "A finished task", Unit.MONEY, of=lambda it: _each(it, it.n_tasks)),
    )
    table = Table(
        "cost",
        "Cost of people and models",
        (Name("who", "People or model"), Name("currency", "Currency")),
        measures,
        tuple(
            Row(
                ("people" if each.is_people else each.name, each.currency),
                values_of(measures, each),
                is_pinned=each.is_people,
            )
            for each in spent
        ),
        about=("Models by the tokens of the calls that gave their answers, at the prices of those days; repairs "
                "and repeats come on top. “–” where nobody is paid, or a model has no price or calls on record."),
    )  # fmt: skip
    return Section("costs", "What it cost", (table,))


def _item_costs(spent: Sequence[Spent]) -> Iterator[Note]:
    """The cost of an item and of an answer by people and by each model, or why it is unknown."""
    said = []
    for each in sorted(spent, key=lambda each: each.total.value is None):
        item, answer = each.each(each.n_items), each.each(each.n_answers)
        name = "people" if each.is_people else each.name
        if item.value is None:
            said.append(f"by {name} it is unknown ({item.undefined_reason})")
            continue
        cost = f"{number(item.value, Unit.MONEY)} {each.currency}" if item.value else "nothing"
        by_answer = f" ({number(answer.value, Unit.MONEY)} an answer)" if answer.value else ""
        said.append(f"{cost} by {name}{by_answer}")
    if said:
        yield Note(f"An item costs {', '.join(said)}.", is_answer=True)


def _each(spent: Spent, n: int | None) -> Stat | None:
    return None if n is None else spent.each(n)


def _so_far(work: Work) -> str:
    people = in_figures(work.n_people, "person", "people")
    tasks = in_figures(work.n_done, "task", "tasks")
    return (
        f"So far {people} did {tasks}, {work.ms_each / 60_000:.1f} minutes each on average, at {work.rate} "
        f"{work.currency} an hour. Hours and costs are what comes on top, at the same pace and overlap."
    )


def _section(planned: Planned, work: Work) -> Section:
    return Section(
        planned.headline.key,
        capfirst(planned.headline.title),
        (
            *(
                Note(_enough(target, planned.headline, work), is_answer=at == 0)
                for at, target in enumerate(planned.targets)
            ),
            Drawing(_chart(planned, work), table=f"plan-{planned.headline.key}"),
            _table(planned, work),
        ),
        about=_about(planned.headline),
    )


def _about(headline: Plannable) -> str:
    known = headline.variances
    if known is None:
        return ""
    from_ = f"From {known.n_items} {headline.unit}."
    if known.people is None:
        few = "There are fewer than five people, so intervals are about these people, and only more"
        return f"{from_} {few} {headline.unit} narrow them."
    sample = "People are a sample too: a width that comes from their differences does not fall with more"
    return f"{from_} {sample} {headline.unit}."


def _enough(target: Target, headline: Plannable, work: Work) -> str:
    """Labels that bring a figure to a round half width."""
    known, figure, unit = headline.variances, headline.title, headline.unit
    half = _half(target.half * headline.factor, headline)
    if known is None or target.n_items is None or target.hours is None:
        return f"No number of {unit} brings {figure} to ± {half} with these people: more people are needed."
    if target.n_items <= known.n_items:
        return capfirst(f"{figure}: ± {half} is reached, {target.n_items} {unit} would do.")
    n = target.n_items - known.n_items
    return (
        f"{n} more {unit}, about {round(n * work.per_cluster)} tasks of {work.n_people} people, bring {figure} to "
        f"± {half} ({target.hours:.1f} hours, {target.cost:.0f} {work.currency})."
    )


def _half(value: float, headline: Plannable) -> str:
    """Half a width in words, with its unit where it has one."""
    return f"{value:g} points" if headline.is_points else f"{value:g}"


def _table(planned: Planned, work: Work) -> Table:
    factor, unit = planned.headline.factor, Unit.POINTS if planned.headline.is_points else Unit.FIGURE

    def half(design: Design) -> Cell:
        ends = (number(factor * end / 2, unit) for end in (design.width.low, design.width.high))
        return Cell(factor * design.width.expected / 2, aside=" – ".join(ends))

    how = "expected; below it the range of 80 in 100"
    people, items = attrgetter("width.n_people"), attrgetter("width.n_items")
    measures = (
        Measure("half", "± (half the 95 % interval)", unit, how, of=half),
        Measure("half_low", "±, from", unit, is_extra=True, of=lambda it: factor * it.width.low / 2),
        Measure("half_high", "±, to", unit, is_extra=True, of=lambda it: factor * it.width.high / 2),
        Measure("n_people", "People", Unit.COUNT, is_extra=True, of=people),
        Measure("n_items", planned.headline.unit, Unit.COUNT, is_extra=True, of=items),
        Measure("hours", "Hours more", Unit.POINTS),
        Measure("cost", f"{work.currency} more", Unit.MONEY, of=lambda it: float(it.cost)),
    )
    return Table(
        f"plan-{planned.headline.key}",
        "Widths",
        (Name("design", f"People × {planned.headline.unit}"),),
        measures,
        tuple(
            Row((f"{people(design)} × {items(design)}",), values_of(measures, design), is_pinned=at == 0)
            for at, design in enumerate(planned.designs)
        ),
        about="The first row is the study as it is. Ranges are what labels so far leave open.",
        is_folded=True,
    )


def _chart(planned: Planned, work: Work) -> Chart:
    factor = planned.headline.factor
    widths = [design.width for design in planned.designs]
    names = {width.n_people: in_figures(width.n_people, "person", "people") for width in widths}
    words = Words(
        name=f"plan-{planned.headline.key}",
        title=f"How narrow does it get? {capfirst(planned.headline.title)}",
        subtitle="Half the 95 % interval, with the range that labels so far leave open.",
        value="± ",
        x=planned.headline.unit,
        digits=1 if planned.headline.is_points else 3,
    )
    points = [
        Point(
            series=names[width.n_people],
            x=float(width.n_items),
            value=factor * width.expected / 2,
            low=factor * width.low / 2,
            high=factor * width.high / 2,
        )
        for width in widths
    ]
    first = widths[0]
    points.append(Point(series="you are here", x=first.n_items, value=factor * first.expected / 2, kind=Kind.DOT))
    highest = max(point.high or point.value or 0.0 for point in points)
    layout = Lines(
        x_domain=(0.0, float(max(width.n_items for width in widths))),
        domain=(0.0, min(highest, 4 * factor * first.expected / 2) or 1.0),
        colours=[
            *((name, colour_of(at)) for at, name in enumerate(names.values())),
            ("you are here", "var(--human)"),
        ],
    )
    return Chart(words, points, layout)


def as_json(plan: Plan) -> dict[str, Any]:
    """Every headline with its variances, its designs and what would be enough; half widths in its own unit."""
    work = plan.work
    return {
        "work": {
            "people": work.n_people,
            "tasks": work.n_done,
            "minutes_each": work.ms_each / 60_000,
            "hourly_rate": float(work.rate),
            "currency": work.currency,
        },
        "cost": [_cost_json(spent) for spent in plan.spent],
        "headlines": [_headline_json(planned) for planned in plan.planned],
    }


def _cost_json(spent: Spent) -> dict[str, Any]:
    each = {"item": spent.n_items, "answer": spent.n_answers, "task": spent.n_tasks}
    return {
        "name": "people" if spent.is_people else spent.name,
        "is_people": spent.is_people,
        "currency": spent.currency,
        "items": spent.n_items,
        "answers": spent.n_answers,
        "tasks": spent.n_tasks,
        "hours": spent.hours,
        "total": spent.total.value,
        **{f"per_{name}": spent.each(n).value for name, n in each.items()},
        "undefined_reason": spent.total.undefined_reason or None,
    }


def _headline_json(planned: Planned) -> dict[str, Any]:
    known = planned.headline.variances
    return {
        "key": planned.headline.key,
        "title": planned.headline.title,
        "unit": planned.headline.unit,
        **stat_json({"value": planned.headline.stat}),
        "variances": None
        if known is None
        else {"people": known.people, "items": known.items, "rest": known.rest, "n_people": known.n_people,
              "n_items": known.n_items},
        "designs": [
            {
                "people": design.width.n_people,
                "items": design.width.n_items,
                "half_width": design.width.expected / 2,
                "range": [design.width.low / 2, design.width.high / 2],
                "hours": design.hours,
                "cost": float(design.cost),
            }
            for design in planned.designs
        ],
        "enough": [
            {
                "half_width": target.half,
                "items": target.n_items,
                "hours": target.hours,
                "cost": None if target.cost is None else float(target.cost),
            }
            for target in planned.targets
        ],
    }  # fmt: skip
