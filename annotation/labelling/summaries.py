"""Summaries as items of label work: which ones a study takes, and who may not have one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery

from annotation import clock
from annotation.models import Assignment, LabelItem, Session, Snapshot, Study
from annotation.studies.dealing import Item, Pair, sample
from annotation.studies.gaps import Reason, Rows
from annotation.studies.kind import NotPossible, work_of
from benchmarks import audit
from benchmarks.leaderboard.sampling import source_corpora
from benchmarks.models import Haystack, Insight, Subtopic, Summary, System


class BadList(Exception):
    """An uploaded list names what is no summary; `problems` are sentences with the row."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(self.problems))


def all_haystacks(seed: int) -> dict[str, Any]:
    """Values of a form that draws from all haystacks that one works with."""
    return {"haystacks": list(Haystack.objects.for_work().values_list("pk", flat=True)), "seed": seed}


def all_sources(seed: int) -> dict[str, Any]:
    """The same of all documents with reference summaries; of all haystacks with documents where there are none."""
    corpora = list(source_corpora())
    if corpora:
        return {"corpora": corpora, "seed": seed}
    return {"haystacks": list(Haystack.objects.for_work().with_documents().values_list("pk", flat=True)),
            "seed": seed}  # fmt: skip


def lacking(n: int, *, with_documents: bool = False) -> str:
    """Missing parts for a draw of n summaries of systems; empty where there are as many."""
    haystacks = Haystack.objects.for_work()
    if with_documents:
        haystacks = haystacks.with_documents() | Haystack.objects.current().sources()
    n_found = labellable().exclude(origin=Summary.Origin.SESSION).filter(haystack__in=haystacks).count()
    if not n_found:
        return "No summary of a system is here yet: import a haystack with summaries, or let a summarizer write."
    return "" if n_found >= n else f"Only {n_found} of {n} summaries are here: all are taken."


def candidates(
    haystacks: Iterable[Haystack],
    *,
    user: Any,
    with_systems: bool = True,
    with_people: bool = True,
    subtopics: Collection[int] = (),
    systems: Collection[str] = (),
    retrievers: Collection[str] = (),
) -> QuerySet[Summary, Summary]:
    """Summaries that can be labelled: with text, on a subtopic with insights.

    Of people only what they handed in, in the studies that `user` may see: whoever sets up a study reads the texts
    in it. `subtopics` (primary keys), `systems` (names of summarizers) and `retrievers` narrow them,
    empty for all; the last two say nothing of people's.
    """
    of_people = Q(origin=Summary.Origin.SESSION, pk__in=_handed_in(user))
    of_systems = ~Q(origin=Summary.Origin.SESSION)
    if systems:
        of_systems &= Q(system__summarizer__in=systems)
    if retrievers:
        of_systems &= Q(system__retriever__in=retrievers)
    wanted = (of_systems if with_systems else Q(pk__in=[])) | (of_people if with_people else Q(pk__in=[]))
    matching = labellable().filter(wanted, haystack__in=[haystack.pk for haystack in haystacks])
    return matching.filter(subtopic__in=subtopics) if subtopics else matching


def offered(haystacks: Collection[Haystack], *, user: Any) -> tuple[list[Subtopic], list[str], list[str]]:
    """Subtopics, summarizers and retrievers (empty: full context) to narrow the summaries of some haystacks by."""
    if not haystacks:
        return [], [], []
    rows = candidates(haystacks, user=user).order_by()
    offered_rows = set(rows.values_list("subtopic", "system", "origin").distinct())
    writers = {system for _subtopic, system, origin in offered_rows if origin != Summary.Origin.SESSION}
    systems = list(System.objects.filter(pk__in=writers).values_list("summarizer", "retriever"))
    subtopics = Subtopic.objects.filter(pk__in={subtopic for subtopic, _system, _origin in offered_rows})
    return (
        list(subtopics.select_related("haystack").order_by("haystack__title", "haystack", "number")),
        sorted({summarizer for summarizer, _retriever in systems}),
        sorted({retriever for _summarizer, retriever in systems}),
    )


def counted(summaries: QuerySet[Summary, Summary]) -> list[tuple[str, int]]:
    """How many summaries each system has, and people together (their name is empty)."""
    rows = Summary.objects.filter(pk__in=summaries.order_by().values("pk")).select_related("system")
    counts: Counter[str] = Counter()
    for summary in rows.only("origin", "system"):
        counts["" if summary.origin == Summary.Origin.SESSION else str(summary.system or "–")] += 1
    return sorted(counts.items(), key=lambda item: (not item[0], item[0]))


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
                problems.append(f"Row {number}: “{cell[:60]}” is not a summary id.")
    visible = ~Q(origin=Summary.Origin.SESSION) | Q(pk__in=_handed_in(user))
    by_uid = {summary.uid: summary for summary in labellable().filter(visible, uid__in=rows)}
    problems += [
        f"Row {row}: no summary {uid} that can be labelled." for uid, row in rows.items() if uid not in by_uid
    ]
    if not rows and not problems:
        problems.append("The list is empty. Give one summary id per row.")
    if problems:
        raise BadList(problems)
    return [by_uid[uid] for uid in rows]


def _handed_in(user: Any) -> QuerySet[Snapshot, Any]:
    """The primary keys of people's final texts in the studies that a researcher may see."""
    finals = Snapshot.objects.filter(
        kind=Snapshot.Kind.FINAL,
        session__in=Session.objects.for_researcher(user).filter(state__in=clock.HANDED_IN),
        session__assignment__is_practice=False,
    )
    return finals.exclude(summary=None).values("summary")


def labellable() -> QuerySet[Summary, Summary]:
    """Summaries with text on a subtopic with insights, of haystacks in use; `n_insights` of each."""
    rows = Summary.objects.exclude(text="").filter(haystack__is_practice=False, haystack__archived_at=None)
    insights = Insight.objects.order_by().filter(subtopic=OuterRef("subtopic"))
    n_insights = Subquery(insights.values("subtopic").annotate(n=Count("pk")).values("n"))
    with_insights: QuerySet[Summary, Summary] = rows.annotate(n_insights=n_insights).filter(
        Exists(insights), haystack=F("subtopic__haystack")
    )
    return with_insights.order_by("haystack", "subtopic", "pk")


def chosen_summaries(haystacks: Collection[Haystack], n: int | None, *, seed: int) -> list[Summary]:
    """Texts of systems on some haystacks that can be labelled, all of them or a draw of `n`.

    Raises:
        NotPossible: there is nothing.
    """
    rows = (
        labellable()
        .exclude(origin=Summary.Origin.SESSION)
        .filter(haystack__in=[haystack.pk for haystack in haystacks])
    )
    summaries = list(rows)
    if not summaries:
        raise NotPossible("No summary of a system is there to label; name a haystack that has some.")
    return summaries if n is None else draw(summaries, n, seed=seed)


def drawn(dataset: str, n: Sequence[int], *, seed: int, user: Any) -> list[Summary]:
    """So many summaries of systems, and of people, of the haystacks of a dataset that are not for practice."""
    haystacks, (of_systems, of_people) = Haystack.objects.filter(dataset=dataset, is_practice=False), n
    return [
        *draw(candidates(haystacks, user=user, with_people=False), of_systems, seed=seed),
        *draw(candidates(haystacks, user=user, with_systems=False), of_people, seed=seed),
    ]


@transaction.atomic
def add_summaries(
    *,
    study: Study,
    summaries: Iterable[Summary],
    at_random: bool = False,
    by: Any,
    now: datetime,
) -> int:
    """Add items, each once, with a question or one for every insight; gives how many are new.

    They are nobody's until the next deal. The labels are of a random draw as long as all items were drawn
    `at_random`; gold items never are.
    """
    kind: Any = work_of(study)
    known = set(study.label_items.values_list("summary_id", flat=True))
    new = {row.pk: row for row in summaries if row.pk not in known}
    if not new:
        return 0
    first = not study.label_items.exclude(role=LabelItem.Role.TRAINING).exists()
    study.labels_are_random = at_random and (first or study.labels_are_random)
    study.save(update_fields=["labels_are_random"])
    insights = Insight.objects.filter(subtopic__in={row.subtopic_id for row in new.values()})
    n_insights = Counter(insights.values_list("subtopic_id", flat=True)) if kind.answers.by_insight else None
    LabelItem.objects.bulk_create(
        LabelItem(
            study=study,
            summary=row,
            block=f"subtopic-{row.subtopic_id}",
            n_questions=1 if n_insights is None else n_insights[row.subtopic_id],
            added_at=now,
        )
        for row in new.values()
    )
    audit.record(actor=by, action="study.add_summaries", target=study, now=now, n=len(new))
    return len(new)


def barred_pairs(rows: Rows) -> dict[Pair, Reason]:
    """Why somebody may not have an item: it is theirs, or on a haystack that they still have to write on."""
    people, items = rows.present, rows.items.values()
    by_them = Snapshot.objects.filter(summary__in=[item.summary for item in items])  # at any mark
    authors = set(by_them.values_list("session__annotator_id", "summary_id"))
    writing = {
        (task.annotator_id, task.subtopic.haystack_id): Reason(
            f"Still has to write on “{task.subtopic.haystack.title}”.", task.study
        )
        for task in Assignment.objects.unfinished()
        .filter(annotator__in=people, is_practice=False)
        .select_related("study", "subtopic__haystack")
        .order_by("-pk")
    }
    by_hand = Reason("Wrote summaries of this study.")
    return {
        (person, item.pk): reason
        for person in people
        for item in items
        if (
            reason := by_hand
            if (person, item.summary) in authors
            else writing.get((person, item.summary__haystack))
        )
    }
