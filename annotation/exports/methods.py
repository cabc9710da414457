"""What was done in a study, as the methods section of a paper says it: prose in English, to be pasted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotation.exports.amounts import Amounts
from annotation.exports.describing import Described
from annotation.exports.figures import Made
from annotation.exports.methods_results import analysis, results
from annotation.exports.prose import counted, in_words, listed
from annotation.models import LabelTask, RecruitmentLink, Session, Study, Trial, WritingPlan
from annotation.studies.amounts import duration, money
from annotation.studies.kind import plan_of


def methods(about: Described, made: Made | None) -> str:
    """Paragraphs in Markdown: data and task, people, quality, agreement, judges, how figures were computed."""
    sections = (
        ("Data and task", _task(about)),
        ("Annotators", _people(about)),
        ("Quality control and exclusions", _quality(about)),
        ("Agreement and results", results(made)),
        ("Analysis", analysis(made)),
    )
    return "\n".join(
        f"**{title}.** {' '.join(' '.join(sentences).split())}\n"
        for title, sentences_of in sections
        if (sentences := [sentence for sentence in sentences_of if sentence])
    )


# Data and task


def _task(about: Described) -> Iterator[str]:
    study = about.study
    if about.is_planned and not about.amounts.workers:
        yield "No work had begun when this was written, so it says what is planned."
    tell = TASKS.get(study.kind, _external)
    yield tell(about)
    yield _on(about)
    if about.is_planned and study.kind in SHARED_OUT:
        yield from _shared(about)


def _shared(about: Described) -> Iterator[str]:
    """How items were assigned; where some have too few people, how they were to be, and how many have enough."""
    unit, units, sentence = SHARED_OUT[about.study.kind]
    n, n_enough = about.amounts.groups, about.amounts.groups - about.amounts.short
    yield sentence(about, _Verbs("was", "went") if n and n_enough == n else _Verbs("was to be", "was to go"))
    if n and n_enough < n:
        enough = in_words(n_enough) if n_enough else "none"
        yield f"So far {enough} of {counted(n, unit, units)} {'has' if n_enough < 2 else 'have'} as many."


def _writing(about: Described) -> str:
    plan: WritingPlan = plan_of(about.study)
    documents = {
        WritingPlan.Setting.ORACLE: f"the documents that state an insight of the subtopic, up to a budget of "
        f"{plan.token_budget:,} tokens",
        WritingPlan.Setting.FULL: "all documents of the haystack",
        WritingPlan.Setting.RANKING: f"the documents that the retriever {plan.retriever} ranked first, up to a "
        f"budget of {plan.token_budget:,} tokens",
    }[WritingPlan.Setting(plan.setting)]
    if plan.setting == WritingPlan.Setting.ORACLE and plan.include_zero_insight:
        documents += ", filled up with documents without any"
    aids = (
        "without any aids beyond search"
        if plan.preset == WritingPlan.Preset.PAPER
        else "with an editor that helps to search and to cite"
    )
    paste = "blocked" if plan.paste_policy == WritingPlan.PastePolicy.BLOCK else "allowed and flagged"
    return (
        "In each session an annotator wrote a bulleted summary with citations that answers the query of a "
        "subtopic "
        f"from {documents}, {aids}. Active time was limited to {duration(plan.limit_ms)}; the text was kept every "
        f"{duration(plan.mark_every_ms)} and at the end. Pasting text from elsewhere was {paste}."
    )


def _linking(about: Described) -> str:
    plan = getattr(about.study, "linking_plan", None)
    several = plan is not None and plan.allow_several_lines
    return (
        "For each reference insight of a subtopic annotators judged whether a summary covers it fully, "
        "partially or "
        f"not at all and, where it does, linked {'the bullets' if several else 'the bullet'} that "
        f"{'cover' if several else 'covers'} it."
    )


def _verification(about: Described) -> str:
    return (
        "For each key point annotators first judged whether it can be found in the source documents (yes or "
        "no) and, "
        "after a yes, whether it is a key point of an answer to the question (agree, neutral or disagree). A "
        "point is "
        "kept after a yes and an agree; agreement below is on that decision."
    )


def _validation(about: Described) -> str:
    plan = plan_of(about.study)
    shown = (
        "with the judge's verdict in view"
        if plan.shows_verdict
        else "without seeing the verdict of the automatic judge"
    )
    why = " After a no or neutral they were asked for the reason." if plan.asks_why_not else ""
    return (
        "For pairs of a system's response and a key point of its question annotators judged whether the response "
        f"entails the point (yes, neutral or no), {shown}.{why}"
    )


def _rating(about: Described) -> str:
    return (
        "Annotators rated each summary on a scale from 1 to 5 on five aspects (overall, informativeness, quality, "
        "coherence and attributability), with its source documents at hand and without seeing which system "
        "wrote it."
    )


def _external(about: Described) -> str:
    categories = ", ".join(map(str, about.study.categories))
    return "The labels were collected elsewhere and imported." + (
        f" The task allowed these labels: {categories}." if categories else ""
    )


TASKS: Mapping[str, Callable[[Described], str]] = {
    Study.Kind.WRITING: lambda about: _writing(about) if about.is_planned else _external(about),
    Study.Kind.LINKING: _linking,
    Study.Kind.VERIFICATION: _verification,
    Study.Kind.VALIDATION: lambda about: _validation(about) if about.is_planned else _external(about),
    Study.Kind.RATING: _rating,
}


def _on(about: Described) -> str:
    """Which data at which version, and how much of them."""
    sizes = listed([counted(n, singular, many) for n, singular, many in _counts(about) if n])
    sources = listed(
        [
            f"the {corpus.kind} “{corpus.title}”"
            + (f" (data version {corpus.sha256[:12]})" if corpus.sha256 else "")
            for corpus in about.corpora
        ]
    )
    if sizes and sources:
        did = "They did so for" if about.amounts.workers or not about.is_planned else "They are to do so for"
        return f"{did} {sizes} of {sources}."
    return f"The material came from {sources}." if sources else ""


def _counts(about: Described) -> list[tuple[int, str, str]]:
    """How much of what is written on or labelled, with its name for one and for many."""
    amounts = about.amounts
    return [
        (amounts.subtopics, "subtopic", "subtopics"),
        (amounts.summaries, "summary", "summaries"),
        (amounts.responses, "response", "responses"),
        (amounts.key_points, "key point", "key points"),
    ]


def _seeded(study: Study) -> str:
    return f"at random (seed {study.seed})"


@dataclass(frozen=True, slots=True)
class _Verbs:
    """What happened to items, or was to happen."""

    was: str
    went: str

    def went_of(self, n: int) -> str:
        """What n items did."""
        return self.went if n == 1 else self.went.replace("was", "were")


def _sessions_shared(about: Described, verbs: _Verbs) -> str:
    study = about.study
    plan: WritingPlan = plan_of(study)
    n = counted(plan.sessions_per_subtopic, "annotator", "annotators")
    wrote = "wrote" if about.amounts.workers else "was to write"
    forms = (
        f" Each {wrote} on a subtopic of each of two parallel haystacks, half in each order."
        if plan.parallel_forms
        else ""
    )
    return f"Each subtopic {verbs.was} assigned to {n}, nobody twice to the same one.{forms}"


def _linking_shared(about: Described, verbs: _Verbs) -> str:
    study, n_all = about.study, about.amounts.overlap
    plan = plan_of(study)
    every = (
        f"{counted(n_all, 'summary', 'summaries').capitalize()} {verbs.went_of(n_all)} to all annotators; every "
        "other one"
        if n_all
        else "Every summary"
    )
    n = counted(plan.people_per_item, "annotator", "annotators")
    return f"{every} {verbs.was} assigned to {n} {_seeded(study)}."


def _verification_shared(about: Described, verbs: _Verbs) -> str:
    study = about.study
    plan = plan_of(study)
    n = counted(plan.people_per_question, "annotator", "annotators")
    control = (
        f"A control group of {float(plan.control_share):.0%} of the questions {verbs.went} to all annotators; "
        "every other question"
        if plan.control_share
        else "Every question"
    )
    return f"{control} {verbs.was} assigned to {n} {_seeded(study)}."


def _per_item(what: str) -> Callable[[Described, _Verbs], str]:
    return lambda about, verbs: (
        f"Every {what} {verbs.was} assigned to "
        f"{counted(plan_of(about.study).people_per_item, 'annotator', 'annotators')} {_seeded(about.study)}."
    )


SHARED_OUT: Mapping[str, tuple[str, str, Callable[[Described, _Verbs], str]]] = {
    Study.Kind.WRITING: ("subtopic", "subtopics", _sessions_shared),
    Study.Kind.LINKING: ("summary", "summaries", _linking_shared),
    Study.Kind.VERIFICATION: ("question", "questions", _verification_shared),
    Study.Kind.VALIDATION: ("response", "responses", _per_item("response")),
    Study.Kind.RATING: ("summary", "summaries", _per_item("summary")),
}
"""What is assigned as one, and how."""

# People


def _people(about: Described) -> Iterator[str]:
    study = about.study
    worked = about.amounts.worked_ms
    first, last = (f"{day:%Y-%m-%d}" if day else "" for day in (about.amounts.first, about.amounts.last))
    when = f" between {first} and {last}" if first and first != last else f" on {first}" if first else ""
    n = about.amounts.workers if about.is_planned else about.n_people
    if n:
        yield f"{counted(n, 'annotator', 'annotators').capitalize()} took part{when}."
    if n_idle := about.n_people - n:
        others = counted(n_idle, "other", "others") if n else counted(n_idle, "annotator", "annotators")
        yield f"{others.capitalize()} had joined but not begun."
    n_left = sum(member.left_at is not None for member in study.memberships.all())
    if n_left:
        yield f"{counted(n_left, 'person', 'people').capitalize()} left before the end."
    panels = sorted({link.get_panel_display() for link in RecruitmentLink.objects.filter(study=study)})
    if panels:
        yield f"People were recruited through {listed(panels)}."
    if about.consent_versions and n:
        yield _consent(about, n)
    if not about.is_planned:
        yield "How long they worked and what they were paid is not known."
        return
    was = "was" if n else "is to be"
    pay = (
        f"Active time {was} paid at {money(study.hourly_rate, study.currency)} an hour"
        if study.hourly_rate
        else f"The work {'was' if n else 'is'} not paid"
    )
    yield pay + (f", {duration(worked)} in all." if worked else ".")


def _consent(about: Described, n: int) -> str:
    """How many of those who worked agreed; of labels that came from elsewhere that is not known."""
    agreed = about.amounts.agreed if about.is_planned else n
    if agreed >= n:
        return f"Everybody who took part agreed to the consent text ({_versions(about.consents)})."
    who = in_words(agreed).capitalize() if agreed else "None"
    return f"{who} of them agreed to the consent text on the site ({_versions(about.consents)})."


# Quality


def _quality(about: Described) -> Iterator[str]:
    study = about.study
    has_begun = about.amounts.workers > 0 or not about.is_planned
    if about.guideline_versions:
        file = listed([f"guidelines/{version}.md" for version in about.guideline_versions])
        told = "Everybody worked under written guidelines" if has_begun else "There are written guidelines"
        yield f"{told} ({_versions(about.guidelines)}, reproduced in {file})."
    if not about.is_planned:
        return
    is_writing = study.kind == Study.Kind.WRITING
    training, gold = about.amounts.training, about.amounts.gold
    if training:
        items = counted(training, "item", "items")
        were = "were" if has_begun else "are to be"
        yield f"Before their work annotators {were} trained on {items}, each of which told the agreed answers."
    if gold:
        yield _checks(about)
    trials = list(study.trials.all())
    if study.has_trial or trials:
        yield _trial(study, trials)
    elif not is_writing and not training and not gold:
        yield f"There {'was' if has_begun else 'is'} neither training nor a qualification test."
    yield from (_sessions(about) if is_writing else _tasks(about.amounts))
    if removed := about.removed:
        people = counted(removed["people"], "person", "people")
        yield f"The work of {people} was deleted because they asked for it."


def _trial(study: Study, trials: Sequence[Trial]) -> str:
    people = len({trial.annotator_id for trial in trials})
    passed = len({trial.annotator_id for trial in trials if trial.is_passed})
    share = study.trial_pass_share
    threshold = "" if share is None else f", of which {float(share):.0%} had to be answered rightly"
    trial = f"a trial of worked examples, off the clock and unpaid{threshold}"
    if not people:
        return f"Work was to begin with {trial}; nobody has taken it."
    took = f"{counted(people, 'person', 'people')} took it"
    if people == passed:
        return f"Work began with {trial}: {took} and passed."
    return f"Work began with {trial}: {took}, {in_words(passed) if passed else 'none'} of whom passed."


def _checks(about: Described) -> str:
    study, gold, done = about.study, about.amounts.gold, about.amounts.gold_done
    mark = getattr(getattr(study, "linking_plan", None), "pass_mark", None)
    passed = f"; people qualified with {float(mark):.0%} of them right" if mark is not None else ""
    kind = "attention check" if study.kind == Study.Kind.VERIFICATION else "hidden question with known answers"
    kinds = "attention checks" if study.kind == Study.Kind.VERIFICATION else "hidden questions with known answers"
    stood = counted(gold, kind, kinds).capitalize()
    return f"{stood} stood among the items ({done} answered){passed}; they enter no figure."


def _tasks(amounts: Amounts) -> Iterator[str]:
    total, done = amounts.total, amounts.in_state(LabelTask.State.DONE)
    if not total:
        yield "No task was assigned."
    elif total == done:
        yield f"All {total} tasks were completed."
    else:
        skipped = amounts.in_state(LabelTask.State.SKIPPED)
        yield f"{done} of {total} tasks were completed" + (f" and {skipped} skipped." if skipped else ".")
    yield "Only complete, current answers count: a changed answer replaces the earlier one."


def _sessions(about: Described) -> Iterator[str]:
    amounts = about.amounts
    if not amounts.total:
        yield "No session was begun."
        return
    out = [f"{n} by {reason}" for reason, n in _reasons(about.study)]
    parts = [
        (amounts.in_state(Session.State.SUBMITTED), "submitted"),
        (amounts.in_state(Session.State.EXPIRED), "ended by the clock"),
        (amounts.in_state(Session.State.VOIDED), "voided"),
    ]
    told = listed([f"{in_words(n)} {'was' if n == 1 else 'were'} {how}" for n, how in parts if n])
    yield f"Of {counted(amounts.total, 'session', 'sessions')}, {told or 'none has ended'}."
    yield f"Researchers excluded sessions from all figures: {listed(out)}." if out else "No session was excluded."


def _reasons(study: Study) -> list[tuple[str, int]]:
    rows = Session.objects.filter(assignment__study=study, exclusions__lifted_at=None).exclude(exclusions=None)
    counts = (
        rows.order_by().values_list("exclusions__reason").annotate(n=Count("pk")).order_by("exclusions__reason")
    )
    return [(f"“{reason}”", n) for reason, n in counts]


def _versions(versions: str) -> str:
    return f"{'versions' if ',' in versions else 'version'} {versions}"
