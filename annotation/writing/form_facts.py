"""Load what the rules of parallel forms ask about a study: its two forms, what is apart, and whose turn it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from annotation.models import Assignment, Study
from annotation.writing.documentsets import NoDocuments, choose, load_material, rule_of
from annotation.writing.parallel import Forms, apart
from benchmarks.models import Insight, Subtopic


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
