"""Which summaries a linking study takes: all, a stratified sample, or a list; systems' and people's alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet
from django.utils.translation import gettext as _

from annotation import clock
from annotation.figures.collect import gold_of
from annotation.models import CoverageLabel, Session, Snapshot, Study
from annotation.studies.sampling import Item, sample
from benchmarks.models import Haystack, Summary


class BadList(Exception):
    """An uploaded list names what is no summary; `problems` are sentences with the row."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(self.problems))


def candidates(
    haystacks: Iterable[Haystack], *, user: Any, with_systems: bool = True, with_people: bool = True
) -> QuerySet[Summary, Summary]:
    """Summaries that can be linked: with text, on a subtopic with insights.

    Of people only what they handed in, in the studies that `user` may see: whoever sets up a linking study reads
    the texts in it.
    """
    of_people = Q(origin=Summary.Origin.SESSION, pk__in=_handed_in(user))
    of_systems = ~Q(origin=Summary.Origin.SESSION)
    wanted = (of_systems if with_systems else Q(pk__in=[])) | (of_people if with_people else Q(pk__in=[]))
    return _linkable().filter(wanted, haystack__in=[haystack.pk for haystack in haystacks])


def draw(summaries: Iterable[Summary], n: int, *, seed: int) -> list[Summary]:
    """A sample stratified by system and, within it, by subtopic."""
    by_pk = {summary.pk: summary for summary in summaries}
    items = [Item(pk, (row.system_id, row.subtopic_id)) for pk, row in by_pk.items()]
    return [by_pk[item.pk] for item in sample(items, n, seed=seed)]


def read_list(text: str, *, user: Any) -> list[Summary]:
    """Summaries named by their ids, one a row; of a table the first column counts, and a heading is passed over.

    People's texts in studies that `user` may not see are not found.

    Raises:
        BadList: with every row that is wrong.
    """
    rows: dict[UUID, int] = {}
    problems = []
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        cell = line.replace(";", ",").replace("\t", ",").split(",")[0].strip().strip('"')
        if not cell:
            continue
        try:
            rows.setdefault(UUID(cell), number)
        except ValueError:
            if number > 1:
                problems.append(
                    _("Row %(row)d: “%(cell)s” is no summary id.") % {"row": number, "cell": cell[:60]}
                )
    visible = ~Q(origin=Summary.Origin.SESSION) | Q(pk__in=_handed_in(user))
    found = {summary.uid: summary for summary in _linkable().filter(visible, uid__in=rows)}
    problems += [
        _("Row %(row)d: there is no summary %(uid)s that can be linked.") % {"row": row, "uid": uid}
        for uid, row in rows.items()
        if uid not in found
    ]
    if not rows and not problems:
        problems.append(_("The list is empty: one summary id a row is expected."))
    if problems:
        raise BadList(problems)
    return [found[uid] for uid in rows]


def agreed_answers(study: Study) -> dict[int, dict[int, tuple[str, tuple[int, ...]]]]:
    """Summaries of a study all whose insights have an answer: {summary: {insight: (coverage, lines)}}.

    That is what was adjudicated, else what people agree on: they chose the same coverage and, if covered, share a
    line; shared lines are the answer.
    """
    labels_on: dict[int, dict[int, list[tuple[str, set[int]]]]] = defaultdict(lambda: defaultdict(list))
    rows = CoverageLabel.objects.filter(study=study).for_figures().order_by("pk")
    for summary, insight, coverage, lines in rows.values_list("summary_id", "insight_id", "coverage", "lines"):
        labels_on[summary][insight].append((coverage, set(lines)))
    linkable: Any = _linkable().filter(pk__in=labels_on)
    asked = dict(linkable.values_list("pk", "n_insights"))
    gold = gold_of([study.pk])
    agreed = {}
    for summary, questions in labels_on.items():
        answers = {}
        for insight, labels in questions.items():
            if (summary, insight) in gold:
                answers[insight] = gold[summary, insight]
                continue
            shared = set.intersection(*(lines for _coverage, lines in labels))
            coverages = {coverage for coverage, _lines in labels}
            if len(coverages) == 1 and (coverages == {"none"} or shared):
                answers[insight] = (coverages.pop(), tuple(sorted(shared)))
        if asked.get(summary) == len(answers):
            agreed[summary] = answers
    return agreed


def authors_of(summaries: Iterable[int]) -> set[tuple[int, int]]:
    """(annotator id, summary id) of everyone whose own text, at any mark, a summary is."""
    rows = Snapshot.objects.filter(summary__in=list(summaries))
    return set(rows.values_list("session__annotator_id", "summary_id"))


def _handed_in(user: Any) -> QuerySet[Snapshot, Any]:
    """The primary keys of people's final texts in the studies that a researcher may see."""
    finals = Snapshot.objects.filter(
        kind=Snapshot.Kind.FINAL,
        session__in=Session.objects.for_researcher(user).filter(state__in=clock.HANDED_IN),
        session__assignment__is_practice=False,
    )
    return finals.exclude(summary=None).values("summary")


def _linkable() -> QuerySet[Summary, Summary]:
    rows = Summary.objects.exclude(text="").filter(haystack__is_practice=False, haystack__archived_at=None)
    with_insights: QuerySet[Summary, Summary] = rows.annotate(n_insights=Count("subtopic__insights")).filter(
        n_insights__gt=0, haystack=F("subtopic__haystack")
    )
    return with_insights.order_by("haystack", "subtopic", "pk")
