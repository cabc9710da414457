"""The ratings of a study as rows, what its archive holds beside them, and a study made of an archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any

from django.db.models import QuerySet
from pydantic import AfterValidator

from annotation.importing.label_work import LabelPart, LabelWorkPlan, Verdict, Work
from annotation.kinds import StudyFile
from annotation.labelling.archive import (
    BY,
    JUDGE,
    JUDGED,
    Archived,
    ItemPart,
    PeoplePerItem,
    Place,
    Plain,
    Tasks,
    name_of,
    one_of,
    ordinary_items,
    table,
    verdict_file,
    whole,
    work_files,
)
from annotation.models import LabelItem, LabelTask, RatingLabel, RatingPlan, Study
from annotation.studies.kind import has_plan
from annotation.studies.rows import IS_UNDO, PERSON, Columns, cells, fields_of, read
from benchmarks.io import published
from benchmarks.io.schemas.fields import Expected, Text, no_nul
from benchmarks.judges.aspects import ASPECTS
from benchmarks.models import Haystack, Subtopic, Summary, SummaryRating, System
from benchmarks.scoring.likert import HIGHEST, LEVELS, LOWEST
from benchmarks.states import SummaryOrigin, SystemKind

COLUMNS: Columns = {
    "annotator": PERSON,
    "task": "task",
    "item": "summary__uid",
    "label": "label",
    "cluster": ("{}/{}".format, "summary__haystack__key", "summary__subtopic__key"),
    "haystack": "summary__haystack__key",
    "subtopic": "summary__subtopic__key",
    "summary": "summary__uid",
    "system": "summary__system__key",
    "is_complete": "is_complete",
    "is_unsure": "is_unsure",
    "is_current": "is_current",
    "is_undo": IS_UNDO,
    "guideline_version": "guideline__version",
    "made_at": "made_at",
}

VERDICTS: Columns = {
    **BY,
    "task": "aspect",
    "item": "summary__uid",
    "label": "value",
    **{name: COLUMNS[name] for name in ("cluster", "haystack", "subtopic", "summary", "system")},
    "is_valid": "is_valid",
}


def labels_of(study: Study, which: str) -> QuerySet[Any, Any]:
    rows: QuerySet[Any, Any] = study.ratinglabels.order_by("pk")
    return rows if which == "history" else rows.filter(is_current=True)


def label_rows(
    study: Study, which: str = "current", labels: QuerySet[Any, Any] | None = None
) -> Iterator[tuple[Any, ...]]:
    """One row for each aspect of a summary, by one person.

    What holds leaves out aspects that are not rated; in the history their label is empty.
    """
    rows = labels_of(study, which) if labels is None else labels
    fields = fields_of(COLUMNS) - {"task", "label"} | {"ratings"}
    return cells(
        (
            {**row, "task": aspect, "label": row["ratings"][aspect]}
            for row in read(study, rows, *fields)
            for aspect in ASPECTS
            if aspect in row["ratings"] and (which == "history" or row["ratings"][aspect] is not None)
        ),
        COLUMNS,
    )


def files_of(study: Study, now: datetime) -> Iterator[StudyFile]:
    if not has_plan(study):
        return
    yield from work_files(
        study, settings=lambda plan: {"people_per_item": plan.people_per_item}, item=_item, said=_ratings
    )
    summaries = ordinary_items(study).values("summary")
    ratings = SummaryRating.objects.counted().filter(repeat=0, summary__in=summaries)
    yield verdict_file(study, VERDICTS, ratings)


def _item(item: LabelItem) -> Plain:
    row: Any = item.summary
    return {
        "id": str(row.uid),
        "summary": {
            "haystack": {name: getattr(row.haystack, name) for name in HaystackPart.model_fields},
            "subtopic": {name: getattr(row.subtopic, name) for name in SubtopicPart.model_fields},
            "system": {name: getattr(row.system, name) for name in SystemPart.model_fields},
            "origin": row.origin,
            "text": row.text,
        },
    }


def _ratings(_study: Study, items: list[LabelItem]) -> Plain:
    place = {item.summary_id: at for at, item in enumerate(items)}
    rows = SummaryRating.objects.counted().filter(repeat=0, summary__in=list(place)).order_by("judge", "pk")
    return {
        "judges": [
            [name, version, place[summary], aspect, value]
            for name, version, summary, aspect, value in rows.values_list(*JUDGE, "summary", "aspect", "value")
        ]
    }


class HaystackPart(Archived):
    """A haystack as far as summaries need it."""

    key: name_of(210)  # type: ignore[valid-type]
    title: name_of(300)  # type: ignore[valid-type]
    language: name_of(20)  # type: ignore[valid-type]


class SubtopicPart(Archived):
    key: name_of(120)  # type: ignore[valid-type]
    number: Place
    name: name_of(300)  # type: ignore[valid-type]
    query: Text


class SystemPart(Archived):
    """Who wrote a summary."""

    key: name_of(200)  # type: ignore[valid-type]
    kind: one_of(*SystemKind.values)  # type: ignore[valid-type]
    summarizer: name_of(120)  # type: ignore[valid-type]
    retriever: name_of(120, 0)  # type: ignore[valid-type]
    document_order: name_of(40, 0)  # type: ignore[valid-type]


class SummaryPart(Archived):
    haystack: HaystackPart
    subtopic: SubtopicPart
    system: SystemPart
    origin: one_of(*SummaryOrigin.values)  # type: ignore[valid-type]
    text: Annotated[str, AfterValidator(no_nul), Expected("a text")]


class SummaryItem(ItemPart):
    summary: SummaryPart


class RatingWork(Archived):
    items: Annotated[list[SummaryItem], Expected("a list of items")]
    plan: PeoplePerItem
    tasks: Tasks
    judges: table(  # type: ignore[valid-type]
        "judge, version, item, aspect and value", *JUDGED, Place, one_of(*ASPECTS), whole(LOWEST, HIGHEST) | None
    )


class RatingsPlan(LabelWorkPlan):
    """Summaries with their ratings, by people and by judges."""

    MODELS = (
        *LabelWorkPlan.MODELS, System, Haystack, Subtopic, Summary, RatingPlan, *LabelWorkPlan.TASKS, RatingLabel,
        SummaryRating,
    )  # fmt: skip
    SCHEMA = RatingWork
    ANSWERS = dict.fromkeys(ASPECTS, tuple(map(str, LEVELS)))
    SAID = {SummaryRating: (("summary_id", "aspect", "repeat"), ("value",))}

    def take(self, rows: Work) -> None:
        self.named = {row.task for row in rows.labels}
        """Aspects of the archive, which may be from before another one."""
        super().take(rows)

    def find_texts(self, items: Sequence[SummaryItem]) -> None:
        """Summaries by place and text; new ones join the haystacks that are here."""
        texts = [item.summary for item in items]
        self.know({text.system.key: System(**text.system.model_dump()) for text in texts}, kind="")
        self.haystacks: dict[str, Haystack] = {
            row.key: row for row in Haystack.objects.filter(key__in={text.haystack.key for text in texts})
        }
        here = list(self.haystacks.values())
        self.subtopics = {
            (row.haystack.key, row.key): row
            for row in Subtopic.objects.filter(haystack__in=here).select_related("haystack")
        }
        self.summaries = {
            (row.haystack.key, row.subtopic.key, row.system.key, row.text_sha256): row
            for row in Summary.objects.filter(haystack__in=here).select_related("haystack", "subtopic", "system")
        }

    def subject(self, item: SummaryItem) -> dict[str, Any]:
        text = item.summary
        of, about = text.haystack, text.subtopic
        place = (of.key, about.key, text.system.key, published.sha256_of(text.text))
        if place in self.summaries:
            self.unchanged["summaries"] += 1
            return {"summary": self.summaries[place]}
        if of.key not in self.haystacks:
            self.haystacks[of.key] = self.create(Haystack(**of.model_dump(), created_at=self.now), "haystacks")
        if place[:2] not in self.subtopics:
            row = Subtopic(haystack=self.haystacks[of.key], **about.model_dump())
            self.subtopics[place[:2]] = self.create(row, "subtopics")
        has_text = any(earlier[:3] == place[:3] for earlier in self.summaries)
        origin = Summary.Origin.ANNOTATED if has_text and text.origin != Summary.Origin.SESSION else text.origin
        made = published.new_summary(
            self.subtopics[place[:2]], self.systems[text.system.key], text.text, now=self.now, origin=origin
        )
        self.summaries[place] = self.create(made, "summaries")
        return {"summary": made}

    def answer(self, task: LabelTask, rows: Mapping[str, LabelPart], about: Plain) -> RatingLabel:
        is_whole = next(iter(rows.values())).is_complete
        aspects = [aspect for aspect in ASPECTS if not is_whole or aspect in self.named]
        ratings = {aspect: int(rows[aspect].label) if aspect in rows else None for aspect in aspects}
        is_complete = None not in ratings.values()
        return RatingLabel(summary=task.item.summary, is_complete=is_complete, ratings=ratings, **about)

    def said(self, work: Any, items: Sequence[LabelItem]) -> Iterator[Verdict]:
        for *judge, at, aspect, value in work.judges:
            about = {"summary": items[at].summary, "is_valid": value is not None, "created_at": self.now}
            yield *judge, SummaryRating(aspect=aspect, value=value, **about)
