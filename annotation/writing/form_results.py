"""Results of parallel forms: each form by itself, and the difference paired by person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Study
from annotation.writing.form_facts import two_forms
from annotation.writing.results import MEASURES, SessionResult
from benchmarks.scoring.parallel_forms import Both, crossover
from benchmarks.scoring.stat import Stat, mean
from benchmarks.scoring.summhay import Scores

NO_TEXT = "no final text with a score"


@dataclass(frozen=True, slots=True)
class OneForm:
    """A form: the means of its final texts, from 0 to 1, over sessions."""

    title: str
    n_sessions: int
    stats: Mapping[str, Stat]


@dataclass(frozen=True, slots=True)
class FormFigures:
    """Both forms by themselves; form B minus form A and the second text minus the first, over people with both.

    `n_first` counts these people by whether they began with A or with B.
    """

    forms: tuple[OneForm, OneForm]
    difference: Mapping[str, Stat]
    order: Mapping[str, Stat]
    n_first: tuple[int, int]


def form_figures(study: Study, results: Sequence[SessionResult]) -> FormFigures | None:
    """The figures of sessions that are over and count; None where a study has no parallel forms. One query."""
    if not study.writing_plan.parallel_forms:
        return None
    forms = two_forms(study.writing_plan.subtopics.select_related("haystack"))
    if forms is None:
        return None
    places = {form[0].haystack_id: at for at, form in enumerate(forms)}
    by_form: list[list[Scores]] = [[], []]
    by_person: dict[int, list[tuple[int, Scores]]] = defaultdict(list)
    for result in sorted((result for result in results if result.counts), key=_began):
        at = places.get(result.session.assignment.subtopic.haystack_id)
        if at is not None and result.last is not None and result.last.score is not None:
            by_form[at].append(result.last.score.scores)
            by_person[result.session.annotator_id].append((at, result.last.score.scores))
    pairs = [texts for texts in by_person.values() if sorted(at for at, _scores in texts) == [0, 1]]
    compared = {name: crossover(_both(pairs, name)) for name in MEASURES}
    n_a_first = sum(texts[0][0] == 0 for texts in pairs)
    a, b = (_one_form(form[0].haystack.title, texts) for form, texts in zip(forms, by_form, strict=True))
    return FormFigures(
        forms=(a, b),
        difference={name: stats[0] for name, stats in compared.items()},
        order={name: stats[1] for name, stats in compared.items()},
        n_first=(n_a_first, len(pairs) - n_a_first),
    )


def _began(result: SessionResult) -> tuple[float, int]:
    began = result.session.started_at or result.session.created_at
    return began.timestamp(), result.session.pk


def _one_form(title: str, texts: Sequence[Scores]) -> OneForm:
    stats = {
        name: mean([value for text in texts if (value := text.measure(name).value) is not None], reason=NO_TEXT)
        for name in MEASURES
    }
    return OneForm(title, len(texts), stats)


def _both(pairs: Sequence[Sequence[tuple[int, Scores]]], name: str) -> list[Both]:
    """The people for whom a measure is defined on both forms."""
    people = []
    for texts in pairs:
        values = {at: scores.measure(name).value for at, scores in texts}
        a, b = values[0], values[1]
        if a is not None and b is not None:
            people.append(Both(a, b, a_first=texts[0][0] == 0))
    return people
