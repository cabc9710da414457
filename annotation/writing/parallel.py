"""Parallel forms: who writes on which subtopic of form A and of form B, in which order, how results compare.

Everybody gets one subtopic of each form, apart from each other, and half of the people begin with form A.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation.models import Assignment, Study
from annotation.writing.documentsets import NoDocuments, choose, load_material, rule_of
from annotation.writing.results import MEASURES, SessionResult
from benchmarks.models import Insight, Subtopic
from benchmarks.scoring.sessions import Both, crossover
from benchmarks.scoring.stat import Stat, mean
from benchmarks.scoring.summhay import Scores

Task = tuple[int, int]
"""A person and a subtopic."""


@dataclass(frozen=True)
class Forms:
    """The subtopics of both forms by id; `apart` has the pairs (of A, of B) that may go to one person."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    apart: frozenset[tuple[int, int]]

    @cached_property
    def not_apart(self) -> dict[int, frozenset[int]]:
        """The subtopics of the other form that share something with each subtopic."""
        return {
            **{a: frozenset(b for b in self.b if (a, b) not in self.apart) for a in self.a},
            **{b: frozenset(a for a in self.a if (a, b) not in self.apart) for b in self.b},
        }


def apart(
    met_a: Mapping[int, Collection[int]], met_b: Mapping[int, Collection[int]]
) -> frozenset[tuple[int, int]]:
    """The pairs of subtopics of which nobody meets the same part of the structure twice.

    For each subtopic of a form, the numbers of the subtopics of which the documents shown for it hold an insight;
    a subtopic has the same number in both forms. Its own number always counts, so it has to be among them.
    """
    return frozenset(
        (a, b) for a, seen_a in met_a.items() for b, seen_b in met_b.items() if not set(seen_a) & set(seen_b)
    )


def deal_forms(
    forms: Forms,
    people: Iterable[int],
    *,
    wanted: int,
    seed: str,
    have: Sequence[Task] = (),
    barred: Collection[Task] = (),
) -> tuple[Task, ...]:
    """Give people what they lack of a subtopic of each form, or nothing; each person's tasks in their order.

    `have` are the tasks that exist, each person's in their order; of each subtopic there are `wanted` with them.
    Whoever has one task gets a subtopic of the other form after it. Who has none gets both, in the order that
    fewer people have, by lot where as many have either. Of the pairs that are apart the least filled come first.
    """
    deal = _Deal(forms, wanted=wanted, have=have, barred=frozenset(barred))
    # Otherwise people who join singly would all meet the same first throw.
    dice = random.Random(f"{seed}:{len(have)}")  # noqa: S311  a fair order, not a secret
    order = sorted(set(people))
    dice.shuffle(order)
    pairs = sorted(forms.apart)
    dice.shuffle(pairs)
    tasks: list[Task] = []
    for person in sorted(order, key=lambda person: person not in deal.tasks):
        mine = deal.tasks.get(person, ())
        chosen = deal.best(person, mine, pairs) if len(mine) < 2 else None
        if chosen is None:
            continue
        if mine:
            [new] = set(chosen) - set(mine)
            tasks.append((person, new))
        else:
            a_first = deal.a_first_is_due(dice)
            tasks += [(person, subtopic) for subtopic in (chosen if a_first else chosen[::-1])]
            deal.n_first[a_first] += 1
        deal.filled.update(set(chosen) - set(mine))
    return tuple(tasks)


class _Deal:
    """What is given so far; `n_first` counts by whether people begin with form A."""

    def __init__(self, forms: Forms, *, wanted: int, have: Sequence[Task], barred: frozenset[Task]) -> None:
        self.wanted, self.barred = wanted, barred
        self.filled = Counter(subtopic for _person, subtopic in have)
        self.tasks: dict[int, tuple[int, ...]] = {}
        for person, subtopic in have:
            self.tasks[person] = (*self.tasks.get(person, ()), subtopic)
        self.n_first = Counter(subtopics[0] in forms.a for subtopics in self.tasks.values())

    def best(self, person: int, mine: Sequence[int], pairs: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
        """The least filled pair with room, in which what the person has stays; None if there is none."""
        fitting = [
            pair
            for pair in pairs
            if set(mine) <= set(pair)
            and all(
                self.filled[subtopic] < self.wanted and (person, subtopic) not in self.barred
                for subtopic in set(pair) - set(mine)
            )
        ]
        return min(fitting, key=lambda pair: sum(self.filled[subtopic] for subtopic in pair), default=None)

    def a_first_is_due(self, dice: random.Random) -> bool:
        """Whether the next person begins with form A."""
        lead = self.n_first[True] - self.n_first[False]
        return lead < 0 or (lead == 0 and dice.random() < 0.5)


# Facts


def two_forms(subtopics: Iterable[Subtopic]) -> tuple[list[Subtopic], list[Subtopic]] | None:
    """Subtopics of form A, the haystack that is older here, and of form B; None unless there are two haystacks."""
    groups: dict[int, list[Subtopic]] = defaultdict(list)
    for subtopic in subtopics:
        groups[subtopic.haystack_id].append(subtopic)
    if len(groups) != 2:
        return None
    first, second = sorted(groups)
    return groups[first], groups[second]


def forms_of(study: Study) -> Forms | None:
    """The forms of a study; None where it has no parallel forms. Six queries."""
    plan = study.writing_plan
    if not plan.parallel_forms:
        return None
    subtopics = list(plan.subtopics.order_by("haystack_id", "number"))
    forms = two_forms(subtopics)
    if forms is None:
        return Forms(tuple(subtopic.pk for subtopic in subtopics), (), frozenset())
    rule = rule_of(plan)
    material = load_material(subtopics, retriever=rule.retriever)
    in_document = _subtopics_in_documents({subtopic.haystack_id for subtopic in subtopics})
    met: dict[int, set[int]] = {}
    for subtopic in subtopics:
        try:
            numbers = choose(material[subtopic.pk], rule).numbers
        except NoDocuments:
            numbers = ()
        shown = (in_document[subtopic.haystack_id, number] for number in numbers)
        met[subtopic.pk] = {subtopic.number}.union(*shown)
    a, b = ({subtopic.pk: met[subtopic.pk] for subtopic in form} for form in forms)
    return Forms(tuple(a), tuple(b), apart(a, b))


def forms_problem(forms: Forms | None) -> str:
    """Why nobody could be given a task of each form; empty if somebody can, or where there are no forms."""
    if forms is None or forms.apart:
        return ""
    if not forms.b:
        return "Parallel forms need subtopics of two haystacks, no more and no fewer."
    return (
        "Every subtopic of one form shares insights with every subtopic of the other in the documents shown. "
        "Choose more subtopics, or show oracle documents of haystacks whose documents join few subtopics."
    )


def held_back(unfinished: Iterable[Assignment]) -> set[int]:
    """Of all unfinished tasks of one person, with their plans, the ids of those that wait for their other form."""
    by_study: dict[int | None, list[int]] = defaultdict(list)
    for task in unfinished:
        if task.study is not None and task.study.writing_plan.parallel_forms:
            by_study[task.study_id].append(task.pk)
    return {pk for tasks in by_study.values() for pk in tasks if pk != min(tasks)}


def is_held_back(task: Assignment) -> bool:
    """The same for one task of a study, in one query where the study has parallel forms."""
    if task.study is None or not task.study.writing_plan.parallel_forms:
        return False
    same = Assignment.objects.filter(study=task.study, annotator=task.annotator_id, is_practice=False)
    return bool(same.unfinished().filter(pk__lt=task.pk).exists())


def in_order(live: dict[tuple[int, int], Any]) -> Sequence[tuple[int, int]]:
    """Tasks by (person, subtopic), in the order in which they were given."""
    return sorted(live, key=lambda pair: live[pair].pk)


def _subtopics_in_documents(haystacks: Iterable[int]) -> dict[tuple[int, int], set[int]]:
    """The numbers of the subtopics with an insight in each document, by haystack and number of the document."""
    within: dict[tuple[int, int], set[int]] = defaultdict(set)
    rows = Insight.objects.filter(subtopic__haystack__in=list(haystacks))
    for haystack, number, golds in rows.values_list("subtopic__haystack", "subtopic__number", "gold_documents"):
        for document in golds:
            within[haystack, document].add(number)
    return within


# Results


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
