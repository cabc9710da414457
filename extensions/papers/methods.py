"""Methods sections of papers: prose in English, to be pasted.

What people did in a study its kind says; a leaderboard has a section of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, Sum

from annotation.exports.archive import Methods
from annotation.exports.boards import BoardMade
from annotation.exports.figures import Made, judges_in
from annotation.exports.studies import Described
from annotation.kinds import Headline, kind_named
from annotation.labelling.kind import LabelWork
from annotation.models import Annotator, Assignment, Consent, LabelTask, RecruitmentLink, Session, Study
from annotation.states import ItemRole
from annotation.studies.amounts import counted, duration, in_words, listed, money
from annotation.studies.kind import Work, plan_of
from benchmarks.models import Haystack
from benchmarks.results.computation import program
from benchmarks.results.sheet import Table, Unit
from benchmarks.results.writing import number
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Score

MOST_JUDGES = 3
JUDGES = {
    "lexical": "an offline lexical method",
    "openai": "a language model",
    "imported": "predictions that were imported",
    "jury": "a jury of other judges",
}
AVERAGES = {"pooled": "pooled over insights", "summary": "means over summaries"}
COUNTED = {
    "subtopics": ("subtopic", "subtopics"),
    "summaries": ("summary", "summaries"),
    "responses": ("response", "responses"),
    "key_points": ("key point", "key points"),
}
BEGUN = ~Q(state=LabelTask.State.TODO, begun_at=None, n_answered=0)
"""Tasks that somebody has worked on."""


class InWords(Methods):
    """Paragraphs in Markdown: data and task, people, quality, agreement, judges, how figures were computed."""

    def of_study(self, about: Described, made: Made | None) -> str:
        tell = _Study(about)
        return _paragraphs(
            {
                "Data and task": tell.task(),
                "Annotators": tell.people(),
                "Quality control and exclusions": tell.quality(),
                "Agreement and results": _results(made),
                "Analysis": _analysis(made),
            }
        )

    def of_board(self, board_made: BoardMade, haystacks: Sequence[Haystack]) -> str:
        return _paragraphs(
            {
                "Systems and data": _compared(board_made, haystacks),
                "Scores": _scores(board_made),
                "Analysis": _board_analysis(board_made),
            }
        )


def _paragraphs(sections: Mapping[str, Iterable[str]]) -> str:
    return "\n".join(
        f"**{title}.** {' '.join(' '.join(sentences).split())}\n"
        for title, sentences in ((title, list(filter(None, section))) for title, section in sections.items())
        if sentences
    )


# A study


def amounts_of(study: Study) -> dict[str, Any]:
    """Counts of a study, in a fixed number of queries.

    `training` and `gold` are items by their role, `gold_done` are tasks. `workers` are people who began something
    or whose answers are there, `agreed` those of them with a consent, also if they withdrew later. `states` has
    how many tasks on ordinary items, or sessions, are in each state; `first` and `last` are when work ended,
    `worked_ms` is the active time of all of it.
    """
    kind = kind_named(study.kind)
    is_labelled = isinstance(kind, LabelWork) or not isinstance(kind, Work)
    return dict.fromkeys((*COUNTED, "training", "gold"), 0) | (_labelled if is_labelled else _written)(study)


def _written(study: Study) -> dict[str, Any]:
    live = ~Q(state=Assignment.State.WITHDRAWN)
    return _worked(
        study.assignments.order_by(),
        {state: Q(session__state=state) for state in Session.State.values},
        ended="session__ended_at",
        active="session__acc_ms",
        subtopics=Count("subtopic", filter=live, distinct=True),
        workers=Count("session__annotator", distinct=True),
        agreed=Count("session__annotator", distinct=True, filter=_has_agreed("session__annotator")),
    )


def _labelled(study: Study) -> dict[str, Any]:
    tasks, labels = study.label_tasks.order_by(), study.coveragelabels.order_by()
    ordinary = Q(role=ItemRole.ORDINARY)
    items: dict[str, Any] = study.label_items.order_by().aggregate(
        summaries=Count("summary", filter=ordinary, distinct=True),
        responses=Count("response", filter=ordinary, distinct=True),
        key_points=Count("key_point", filter=ordinary, distinct=True),
        training=Count("pk", filter=Q(role=ItemRole.TRAINING)),
        gold=Count("pk", filter=Q(role=ItemRole.GOLD)),
    )
    if not items["key_points"]:  # labels of coverage may have come without items
        items["summaries"] = max(items["summaries"], labels.values("summary").distinct().count())
    work = _worked(
        tasks,
        {state: Q(item__role=ItemRole.ORDINARY, state=state) for state in LabelTask.State.values},
        ended="done_at",
        active="active_ms",
        gold_done=Count("pk", filter=Q(item__role=ItemRole.GOLD, state=LabelTask.State.DONE)),
    )
    begun = Q(pk__in=tasks.filter(BEGUN).values("annotator")) | Q(pk__in=labels.values("annotator"))
    workers = Annotator.objects.filter(begun).order_by()
    return items | work | workers.aggregate(workers=Count("pk"), agreed=Count("pk", filter=_has_agreed("pk")))


def _worked(rows: Any, states: Mapping[str, Q], *, ended: str, active: str, **more: Count) -> dict[str, Any]:
    in_states = {f"in_{state}": Count("pk", filter=rows_in) for state, rows_in in states.items()}
    times = {"first": Min(ended), "last": Max(ended), "worked_ms": Sum(active)}
    work: dict[str, Any] = rows.aggregate(**times, **in_states, **more)
    told = {state: n for state in states if (n := work.pop(f"in_{state}"))}
    return {**work, "worked_ms": work["worked_ms"] or 0, "states": told}


def _has_agreed(annotator: str) -> Q:
    return Q(Exists(Consent.objects.order_by().filter(annotator=OuterRef(annotator))))


class _Study:
    def __init__(self, about: Described) -> None:
        self.about, self.study, self.kind = about, about.study, kind_named(about.study.kind)
        self.amounts = amounts_of(self.study)

    def task(self) -> Iterator[str]:
        if self.about.is_planned and not self.amounts["workers"]:
            yield "No work had begun when this was written, so it says what is planned."
        yield self.kind.work_in_words(self.study)
        yield self._material()
        if self.about.is_planned and isinstance(self.kind, Work):
            yield from self.kind.shares_in_words(self.study)

    def _material(self) -> str:
        """Which data at which version, and how much of them."""
        sizes = listed([counted(n, *words) for name, words in COUNTED.items() if (n := self.amounts[name])])
        sources = listed(
            [f"the {corpus.kind} “{corpus.title}”" + _version(corpus.sha256) for corpus in self.about.corpora]
        )
        if sizes and sources:
            has_begun = self.amounts["workers"] or not self.about.is_planned
            return f"{'They did so for' if has_begun else 'They are to do so for'} {sizes} of {sources}."
        return f"The material came from {sources}." if sources else ""

    def people(self) -> Iterator[str]:
        about, study, worked = self.about, self.study, self.amounts["worked_ms"]
        first, last = (f"{day:%Y-%m-%d}" if (day := self.amounts[name]) else "" for name in ("first", "last"))
        when = f" between {first} and {last}" if first and first != last else f" on {first}" if first else ""
        n = self.amounts["workers"] if about.is_planned else about.n_people
        if n:
            yield f"{counted(n, 'annotator', 'annotators').capitalize()} took part{when}."
        if n_idle := about.n_people - n:
            others = counted(n_idle, "other", "others") if n else counted(n_idle, "annotator", "annotators")
            yield f"{others.capitalize()} had joined but not begun."
        if n_left := sum(member.left_at is not None for member in study.memberships.all()):
            yield f"{counted(n_left, 'person', 'people').capitalize()} left before the end."
        panels = sorted({link.get_panel_display() for link in RecruitmentLink.objects.filter(study=study)})
        if panels:
            yield f"People were recruited through {listed(panels)}."
        if about.consent_versions and n:
            yield self._consent(n)
        if not about.is_planned:
            yield "How long they worked and what they were paid is not known."
            return
        pay = f"The work {'was' if n else 'is'} not paid"
        if study.hourly_rate:
            rate = money(study.hourly_rate, study.currency)
            pay = f"Active time {'was' if n else 'is to be'} paid at {rate} an hour"
        yield pay + (f", {duration(worked)} in all." if worked else ".")

    def _consent(self, n: int) -> str:
        """How many of those who worked agreed; of labels that came from elsewhere that is not known."""
        agreed, versions = self.amounts["agreed"] if self.about.is_planned else n, _versions(self.about.consents)
        if agreed >= n:
            return f"Everybody who took part agreed to the consent text ({versions})."
        who = in_words(agreed).capitalize() if agreed else "None"
        return f"{who} of them agreed to the consent text on the site ({versions})."

    def quality(self) -> Iterator[str]:
        about, study, kind = self.about, self.study, self.kind
        has_begun = self.amounts["workers"] > 0 or not about.is_planned
        if about.guideline_versions:
            file = listed([f"guidelines/{version}.md" for version in about.guideline_versions])
            told = "Everybody worked under written guidelines" if has_begun else "There are written guidelines"
            yield f"{told} ({_versions(about.guidelines)}, reproduced in {file})."
        if not about.is_planned or not isinstance(kind, Work):
            return
        training, gold = self.amounts["training"], self.amounts["gold"]
        if training:
            were = "were" if has_begun else "are to be"
            items = counted(training, "item", "items")
            yield f"Before their work annotators {were} trained on {items}, each of which told the agreed answers."
        if gold and isinstance(kind, LabelWork):
            mark = getattr(plan_of(study), "pass_mark", None)
            passed = f"; people qualified with {float(mark):.0%} of them right" if mark is not None else ""
            checks = counted(gold, *kind.checks_called).capitalize()
            done = f"({self.amounts['gold_done']} answered)"
            yield f"{checks} stood among the items {done}{passed}; they enter no figure."
        if study.has_trial or study.trials.all():
            yield self._trial()
        elif isinstance(kind, LabelWork) and not training and not gold:
            yield f"There {'was' if has_begun else 'is'} neither training nor a qualification test."
        yield from kind.course_in_words(study, self.amounts["states"])
        if removed := about.removed:
            people = counted(removed["people"], "person", "people")
            yield f"The work of {people} was deleted because they asked for it."

    def _trial(self) -> str:
        trials = list(self.study.trials.all())
        people = len({trial.annotator_id for trial in trials})
        passed = len({trial.annotator_id for trial in trials if trial.is_passed})
        share = self.study.trial_pass_share
        threshold = "" if share is None else f", of which {float(share):.0%} had to be answered rightly"
        trial = f"a trial of worked examples, off the clock and unpaid{threshold}"
        if not people:
            return f"Work was to begin with {trial}; nobody has taken it."
        took = f"Work began with {trial}: {counted(people, 'person', 'people')} took it"
        if people == passed:
            return f"{took} and passed."
        return f"{took}, {in_words(passed) if passed else 'none'} of whom passed."


def _versions(versions: str) -> str:
    return f"{'versions' if ',' in versions else 'version'} {versions}"


def _version(sha256: str) -> str:
    return f" (data version {sha256[:12]})" if sha256 else ""


# Figures


def _results(made: Made | None) -> Iterator[str]:
    """How far people agree, what was reached, how judges compare: a sentence each."""
    if made is None:
        return
    final = made.sheet.table("final")
    if made.headline is not None and made.headline.n_items:
        yield from _agreement(made.headline)
    elif final is None:
        yield "No label yet enters a figure."
    if final is not None and final.rows:
        row = final.rows[0]
        scores = [
            f"{str(measure.title).lower()} {_figure(value, measure.unit)}"
            for measure in final.measures
            if isinstance(value := row.value(measure.key), Stat) and value.value is not None
        ][:3]
        if scores:
            yield f"Final texts reached, {row.names[0].lower()}, {listed(scores)}, on a scale up to 100."
    for key in ("judges", "keep-machines"):
        if (table := made.sheet.table(key)) is not None:
            yield _judges(table)


def _agreement(headline: Headline) -> Iterator[str]:
    people = counted(headline.n_people, "annotator", "annotators")
    yield f"{people[:1].upper()}{people[1:]} labelled {counted(headline.n_items, 'item', 'items')} in all."
    stats = (
        (headline.percent, "percent agreement", Unit.SHARE),
        (headline.corrected, headline.coefficient or "Randolph’s free-marginal κ", Unit.FIGURE),
    )
    known = [
        f"{name} was {_figure(stat, unit)}"
        for stat, name, unit in stats
        if stat is not None and stat.value is not None
    ]
    if known:
        yield f"Among annotators {' and '.join(known)}."
    else:
        yield "Too few items have two labels to say how far annotators agree."
    if headline.n_people < 5:
        yield "With fewer than five annotators these figures describe these people; intervals are over items only."


def _judges(table: Table) -> str:
    """The first measure that is a figure, of each judge."""
    for measure in table.measures:
        values = [(row, row.value(measure.key)) for row in table.rows]
        if any(isinstance(value, Stat) for _row, value in values):
            judged = [
                f"{row.names[0]} {_figure(value, measure.unit)}"
                for row, value in values
                if not row.is_people and isinstance(value, Stat) and value.value is not None
            ]
            told = "; ".join(judged[:MOST_JUDGES])
            return f"Judges against these labels ({measure.title}): {told}." if judged else ""
    return ""


def _figure(stat: Stat, unit: Unit) -> str:
    """A figure with its interval, as a sentence has it."""
    if stat.value is None:
        return "not defined"
    shown = number(stat.value, unit) + (" %" if unit is Unit.SHARE else "")
    if stat.low is None or stat.high is None:
        return shown
    return f"{shown} (95 % CI {number(stat.low, unit)} to {number(stat.high, unit)})"


def _analysis(made: Made | None) -> Iterator[str]:
    """Which judges, on which data version, by which program."""
    if made is not None:
        yield from map(_judge, judges_in(made)[:MOST_JUDGES])
        if not made.reason:
            chosen = f" (of {made.origin.chosen})" if made.origin.chosen else ""
            yield (
                f"All figures{chosen} are those of figures.json (data version {made.origin.data_version}), with "
                "95 % intervals over the clusters named beside each."
            )
    yield f"Data were collected and analysed with {_program()}."


def _program() -> str:
    return f"summhay {program()}".strip()


def _judge(judge: Mapping[str, Any]) -> str:
    """A judge in words, and whether it may stand in for people, as `judges_in` gives it."""
    kind = JUDGES.get(judge["kind"], judge["kind"])
    settings = f"settings in judges.json, SHA-256 {judge['settings_sha256'][:12]}"
    approval = f" {judge['approval']['text']}" if judge["approval"] else ""
    return f"The judge {judge['name']} is {kind} (version {judge['version']}, {settings}).{approval}"


# A leaderboard


def _compared(board_made: BoardMade, haystacks: Sequence[Haystack]) -> Iterator[str]:
    view, board = board_made.view, board_made.board
    entries = [line.entry for line in board.lines if not line.is_people]
    n_systems = counted(len({entry.system for entry in entries}), "system", "systems")
    n_choices = counted(len({entry.retriever for entry in entries}), "choice", "choices")
    on = listed([f"“{haystack.title}”{_version(haystack.content_sha256)}" for haystack in haystacks])
    yield (
        f"We compared {n_systems} under {n_choices} of documents on "
        f"{counted(board.n_subtopics, 'subtopic', 'subtopics')} of the "
        f"{'haystack' if len(haystacks) == 1 else 'haystacks'} {on}."
    )
    if board.people is not None and (people := board.people.writers) is not None:
        texts, writers = counted(people.n_sessions, "text", "texts"), counted(people.n_writers, "person", "people")
        when = "as they were handed in" if view.minute is None else f"as they were at minute {view.minute}"
        yield f"Beside them stand {texts} by {writers}, {when}."
    if view.with_people_only:
        yield "Only subtopics that people wrote on count."


def _scores(board_made: BoardMade) -> Iterator[str]:
    yield (
        "For every reference insight the judge says whether a summary covers it fully, partially or not at all, "
        "and which bullet does. Coverage counts these as 100, 50 and 0, citation is the F1 of the linked bullet's "
        "citations against the documents that state the insight, and the joint score is their product."
    )
    is_expected = board_made.view.score is Score.EXPECTED
    label = ", with what the judge expects in place of its label" if is_expected else ""
    yield f"Scores are {AVERAGES[board_made.view.average]}{label}."


def _board_analysis(board_made: BoardMade) -> Iterator[str]:
    yield from map(_judge, judges_in(board_made.made))
    yield (
        "Intervals (95 %) are over subtopics; ranks compare all systems on the same subtopics at once, by turning "
        "the signs of whole subtopics, and a system is level with the best where none is significantly above it."
    )
    version = board_made.made.origin.data_version
    yield f"Figures are those of figures.json (data version {version}), computed with {_program()}."
