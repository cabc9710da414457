"""A study in words: what archives, methods sections and report cards know of it, and sentences on that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, Sum

from annotation.exports.figures import Made
from annotation.kinds import Headline, Text, kind_named
from annotation.labelling.kind import LabelWork
from annotation.models import Annotator, Assignment, Consent, ConsentText, LabelTask, Session, Study
from annotation.states import ItemRole, PanelName, RecruitmentOutcome
from annotation.studies.amounts import counted, duration, in_words, listed, money
from annotation.studies.kind import Work, plan_of
from annotation.studies.rows import in_words as removed_in_words
from benchmarks.results.sheet import Unit
from benchmarks.results.writing import number
from benchmarks.scoring.stat import Stat

COUNTED = {
    "subtopics": ("subtopic", "subtopics"),
    "summaries": ("summary", "summaries"),
    "responses": ("response", "responses"),
    "key_points": ("key point", "key points"),
}
BEGUN = ~Q(state=LabelTask.State.TODO, begun_at=None, n_answered=0)
"""Tasks that somebody has worked on."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A haystack or question set that a study is about, at its data version (SHA-256), empty if not computed."""

    kind: str
    key: str
    title: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Described:
    study: Study
    kind: Text
    made_at: datetime
    n_people: int
    guideline_versions: tuple[int, ...]
    consent_texts: tuple[ConsentText, ...]
    corpora: tuple[Corpus, ...]
    is_planned: bool
    removed: Mapping[str, int] = field(default_factory=dict)
    """Counts of what was deleted because people asked for it, as `removed_from` gives them."""

    @property
    def removed_in_words(self) -> list[tuple[Any, int]]:
        return removed_in_words(self.removed)

    @property
    def consent_versions(self) -> tuple[int, ...]:
        """Those of the consent text that people agreed to."""
        return tuple(text.version for text in self.consent_texts)

    @property
    def guidelines(self) -> str:
        return ", ".join(map(str, self.guideline_versions))

    @property
    def consents(self) -> str:
        return ", ".join(map(str, self.consent_versions))

    def as_json(self) -> dict[str, Any]:
        """Fields of the manifest; null is not known, as the pay for labels that were imported."""
        study = self.study
        return {
            "study": {
                "name": study.name,
                "id": str(study.uid),
                "kind": study.kind,
                "state": study.state,
                "seed": study.seed,
                "hourly_rate": str(study.hourly_rate) if self.is_planned else None,
                "currency": study.currency if self.is_planned else None,
                "categories": list(study.categories),
            },
            "n_annotators": self.n_people,
            "guideline_versions": list(self.guideline_versions),
            "consent_versions": list(self.consent_versions),
            "corpora": [asdict(corpus) for corpus in self.corpora],
            "removed_on_request": dict(self.removed),
        }


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


class StudyInWords:
    """Sentences on a study: what is planned before work begins, what happened from then on."""

    def __init__(self, about: Described, *, is_public: bool = False) -> None:
        self.is_public = is_public
        self.about, self.study, self.kind = about, about.study, kind_named(about.study.kind)
        is_written = isinstance(self.kind, Work) and not isinstance(self.kind, LabelWork)
        # `workers` began something or answered; `agreed` consented, also if they withdrew it later; `states` are
        # of tasks on ordinary items, or sessions, `gold_done` of tasks, `training` and `gold` of items
        counts = _written(self.study) if is_written else _labelled(self.study)
        self.amounts = dict.fromkeys((*COUNTED, "training", "gold"), 0) | counts
        self.n = self.amounts["workers"] if about.is_planned else about.n_people
        self.has_begun = self.n > 0 or not about.is_planned
        self.work = self.kind if about.is_planned and isinstance(self.kind, Work) else None
        """The kind where people were to work here; None for labels that were made elsewhere."""

    def task(self) -> Iterator[str]:
        if not self.has_begun:
            yield "No work had begun when this was written, so it says what is planned."
        yield self.kind.work_in_words(self.study)
        yield self._material()

    def shares(self) -> Iterator[str]:
        """How many people have the same item."""
        if self.work is not None:
            yield from self.work.shares_in_words(self.study)

    def _material(self) -> str:
        """How much of which data at which version; in public no titles."""
        sizes = listed([counted(n, *words) for name, words in COUNTED.items() if (n := self.amounts[name])])
        sources = listed(
            [f"the {corpus.kind} “{corpus.title}”" + version(corpus.sha256) for corpus in self.about.corpora]
        )
        of_sources = f" of {sources}" if sources and not self.is_public else ""
        if sizes and sources:
            return f"{'They did so for' if self.has_begun else 'They are to do so for'} {sizes}{of_sources}."
        return f"The material came from{of_sources[3:]}." if of_sources else ""

    def people(self) -> Iterator[str]:
        first, last = (f"{day:%Y-%m-%d}" if (day := self.amounts[name]) else "" for name in ("first", "last"))
        when = f" between {first} and {last}" if first and first != last else f" on {first}" if first else ""
        if self.n:
            yield f"{counted(self.n, 'annotator', 'annotators').capitalize()} took part{when}."
        if (n_idle := self.about.n_people - self.n - self.about.removed.get("people", 0)) > 0:
            others = counted(n_idle, *(("other", "others") if self.n else ("annotator", "annotators")))
            yield f"{others.capitalize()} had joined but not begun."
        if n_left := sum(member.left_at is not None for member in self.study.memberships.all()):
            yield f"{counted(n_left, 'person', 'people').capitalize()} left before the end."

    def recruitment(self) -> Iterator[str]:
        rows = list(self.study.recruitment_links.order_by().values_list("panel", "recruitments__outcome"))
        if panels := sorted({str(PanelName(panel).label) for panel, _outcome in rows}):
            yield f"People were recruited through {listed(panels)}."
        outcomes = Counter(outcome for _panel, outcome in rows if outcome)
        if outcomes:
            ended = [f"{in_words(n)} {RecruitmentOutcome(name).label}" for name, n in sorted(outcomes.items())]
            yield f"Of {in_words(sum(outcomes.values()))} who joined by a link: {listed(ended)}."

    def consent(self) -> Iterator[str]:
        """How many of those who worked agreed; of labels that came from elsewhere that is not known."""
        if not (self.about.consent_versions and self.n):
            return
        n, versions = self.amounts["agreed"] if self.about.is_planned else self.n, _versions(self.about.consents)
        if n >= self.n:
            yield f"Everybody who took part agreed to the consent text ({versions})."
        else:
            yield f"{in_words(n).capitalize() if n else 'None'} of them agreed to the consent text ({versions})."

    def paid(self) -> list[str]:
        """The rate and the time it is paid for; empty where labels were made elsewhere."""
        if self.work is None:
            return []
        worked = self.amounts["worked_ms"]
        pay = f"The work {'was' if self.n else 'is'} not paid"
        if self.study.hourly_rate:
            rate = money(self.study.hourly_rate, self.study.currency)
            pay = f"Active time {'was' if self.n else 'is to be'} paid at {rate} an hour"
        return [pay + (f", {duration(worked)} in all." if worked else ".")]

    def instructions(self) -> Iterator[str]:
        if self.about.guideline_versions:
            file = listed([f"guidelines/{version}.md" for version in self.about.guideline_versions])
            told = (
                "Everybody worked under written guidelines" if self.has_begun else "There are written guidelines"
            )
            yield f"{told} ({_versions(self.about.guidelines)}, in the archive as {file})."
        if self.work is None:
            return
        if training := self.amounts["training"]:
            were = "were" if self.has_begun else "are to be"
            items = counted(training, "item", "items")
            yield f"Before their work annotators {were} trained on {items}, each of which told the agreed answers."
        if self.study.has_trial or self.study.trials.all():
            yield self._trial()
        elif isinstance(self.kind, LabelWork) and not training and not self.amounts["gold"]:
            yield f"There {'was' if self.has_begun else 'is'} neither training nor a qualification test."

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

    def checked(self) -> Iterator[str]:
        if (gold := self.amounts["gold"]) and isinstance(self.work, LabelWork):
            mark = getattr(plan_of(self.study), "pass_mark", None)
            passed = f"; people qualified with {float(mark):.0%} of them right" if mark is not None else ""
            checks = counted(gold, *self.work.checks_called).capitalize()
            done = f"({self.amounts['gold_done']} answered)"
            yield f"{checks} stood among the items {done}{passed}; they enter no figure."

    def exclusions(self) -> Iterator[str]:
        """What was finished, excluded and deleted; in public without reasons in words of researchers."""
        if self.work is not None:
            yield from self.work.course_in_words(
                self.study, self.amounts["states"], with_reasons=not self.is_public
            )
        if self.about.removed:
            people = counted(self.about.removed["people"], "person", "people")
            yield f"The work of {people} was deleted because they asked for it."


def _versions(versions: str) -> str:
    return f"{'versions' if ',' in versions else 'version'} {versions}"


def version(sha256: str) -> str:
    return f" (data version {sha256[:12]})" if sha256 else ""


def reached(made: Made) -> Iterator[str]:
    """How far people agree, and what final texts reached."""
    final = made.sheet.table("final")
    if made.headline is not None and made.headline.n_items:
        yield from _agreement(made.headline)
    elif final is None:
        yield "No label yet enters a figure."
    if final is not None and final.rows:
        row = final.rows[0]
        scores = [
            f"{str(measure.title).lower()} {figure_in_words(value, measure.unit)}"
            for measure in final.measures
            if isinstance(value := row.value(measure.key), Stat) and value.value is not None
        ][:3]
        if scores:
            yield f"Final texts reached, {row.names[0].lower()}, {listed(scores)}, on a scale up to 100."


def _agreement(headline: Headline) -> Iterator[str]:
    people = counted(headline.n_people, "annotator", "annotators")
    yield f"{people[:1].upper()}{people[1:]} labelled {counted(headline.n_items, 'item', 'items')} in all."
    stats = (
        (headline.percent, "percent agreement", Unit.SHARE),
        (headline.corrected, headline.coefficient or "Randolph’s free-marginal κ", Unit.FIGURE),
    )
    known = [
        f"{name} was {figure_in_words(stat, unit)}"
        for stat, name, unit in stats
        if stat is not None and stat.value is not None
    ]
    if known:
        yield f"Among annotators {' and '.join(known)}."
    else:
        yield "Too few items have two labels to say how far annotators agree."
    if headline.n_people < 5:
        yield "With fewer than five annotators these figures describe these people; intervals are over items only."


def figure_in_words(stat: Stat, unit: Unit) -> str:
    if stat.value is None:
        return "not defined"
    shown = number(stat.value, unit) + (" %" if unit is Unit.SHARE else "")
    if stat.low is None or stat.high is None:
        return shown
    return f"{shown} (95 % CI {number(stat.low, unit)} to {number(stat.high, unit)})"
