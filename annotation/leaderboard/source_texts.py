"""Texts on sources with their scores, by whoever wrote them: a system with its method, or people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.leaderboard.positions import final_texts
from annotation.leaderboard.ratings import ratings_of
from benchmarks.leaderboard.positions import content_lines, references_of
from benchmarks.models import Draft, Haystack, Summary, System
from benchmarks.scoring.position.rouge import rouge
from benchmarks.scoring.position.source import sentences
from benchmarks.scoring.sources import Scored
from benchmarks.summarizers.arrangements import Arrangement
from benchmarks.system_names import PEOPLE, setting_name

N_SENTENCES, N_WORDS = "sentences", "words"
LENGTHS = (N_SENTENCES, N_WORDS)
"""How long texts are; no score."""
FOCUS = "focus prompt"


class Who(NamedTuple):
    """Whose texts they are: a system with its method, empty where it is not known, and the documents it was shown.

    `documents` has the name that published leaderboards give to a retriever or an order.
    """

    system: str
    method: str
    documents: str

    @property
    def is_people(self) -> bool:
        """Whether people wrote them."""
        return self.system == PEOPLE

    @property
    def label(self) -> str:
        """In one line, without the documents."""
        return f"{self.system} · {self.method}" if self.method else self.system


def _summaries(haystacks: QuerySet[Haystack], studies: Collection[int]) -> QuerySet[Summary]:
    """One text of each system and person on each source, and final texts of sessions."""
    rows = Summary.objects.filter(haystack__in=haystacks).exclude(text="")
    by_sessions = final_texts(haystacks, studies).values("summary")
    return (rows.counted() | rows.filter(pk__in=by_sessions)).order_by("pk")


def texts_of(haystacks: QuerySet[Haystack], studies: Collection[int]) -> dict[Who, list[Scored]]:
    """All texts with their scores by whoever wrote them, without those of experiments of position."""
    summaries = _summaries(haystacks, studies)
    names = _names(summaries)
    ratings = ratings_of(haystacks, studies)
    references = references_of(summaries.order_by().values_list("subtopic", flat=True).distinct())
    scored: dict[Who, list[Scored]] = defaultdict(list)
    rows = summaries.values_list("pk", "subtopic", "haystack__dataset", "text", "scores")
    for pk, subtopic, dataset, text, imported in rows.iterator():
        if pk not in names:
            continue
        lines = content_lines(text)
        values = {**rouge(lines, references[subtopic]), **imported, **ratings.get(pk, {})}
        values[N_SENTENCES] = float(sum(len(sentences(line)) for line in lines))
        values[N_WORDS] = float(sum(len(line.split()) for line in lines))
        scored[names[pk]].append(Scored(subtopic, dataset, values))
    return {who: _one_each(texts) for who, texts in scored.items()}


def _one_each(texts: Sequence[Scored]) -> list[Scored]:
    """A text for each source: where several people wrote, their mean."""
    by_item: dict[int, list[Scored]] = defaultdict(list)
    for text in texts:
        by_item[text.item].append(text)
    return [same_source[0] if len(same_source) == 1 else _mean(same_source) for same_source in by_item.values()]


def _mean(texts: Sequence[Scored]) -> Scored:
    known: dict[str, list[float]] = defaultdict(list)
    for text in texts:
        for name, value in text.values.items():
            known[name].append(value)
    values = {name: sum(several) / len(several) for name, several in known.items()}
    return Scored(texts[0].item, texts[0].dataset, values)


def _names(summaries: QuerySet[Summary]) -> dict[int, Who]:
    """Who wrote each summary; a version is named only where two would have the same name."""
    drafts = Draft.objects.filter(summary__in=summaries).order_by().select_related("judge")
    config = {draft.summary_id: draft.judge for draft in drafts.only("summary", "judge")}
    plain: dict[int, Who] = {}
    systems: dict[int, int] = {}
    rows = summaries.values_list(
        "pk",
        "origin",
        "system",
        "system__kind",
        "system__summarizer",
        "system__retriever",
        "system__document_order",
    )
    for pk, origin, system, kind, summarizer, retriever, order in rows:
        if Arrangement.named(order) is not None:
            continue
        systems[pk] = system
        if origin == Summary.Origin.SESSION or kind == System.Kind.HUMAN:
            plain[pk], systems[pk] = Who(PEOPLE, "", ""), 0
        elif pk in config:
            judge = config[pk]
            name = judge.name.removesuffix(f" ({judge.config.get('method')})")
            plain[pk] = Who(name, _method(judge.config), setting_name(retriever, order))
        else:
            plain[pk] = Who(summarizer, "", setting_name(retriever, order))
    sharing: dict[Who, set[int]] = defaultdict(set)
    for pk, who in plain.items():
        sharing[who].add(systems[pk])
    return {
        pk: who._replace(system=str(config[pk])) if pk in config and len(sharing[who]) > 1 else who
        for pk, who in plain.items()
    }


def _method(config: Mapping[str, Any]) -> str:
    method = str(config.get("method", ""))
    return f"{method}, {FOCUS}" if config.get("focus") else method
