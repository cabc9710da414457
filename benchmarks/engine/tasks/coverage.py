"""Coverage: how much of each insight of a subtopic a summary says, and in which lines."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import OuterRef, QuerySet
from django.db.models.expressions import Combinable
from django.utils.translation import ngettext_lazy
from pydantic import Field, StrictInt, model_validator

from benchmarks.engine import texts, versions
from benchmarks.engine.task import Counts, Labels, Origin, PairTask, Sheet, Store, Task, n_of
from benchmarks.judges.base import SummaryToJudge, digest
from benchmarks.judges.examples import Example, worded
from benchmarks.judges.parsing import LabelAnswer, LabelReply, Problem
from benchmarks.judges.questions import Headings, LabelQuestion, ModelConfig, Question, item_groups
from benchmarks.judges.registry import offline_judge
from benchmarks.models import Insight, Judge, JudgeRun, JudgeRunItem, SentSummary, Subtopic, Summary, Verdict
from benchmarks.scoring.summhay import COVERAGES, Coverage
from benchmarks.scoring.text import LineKind, lines_from_list

PUBLISHED = {"FULL_COVERAGE": "full", "PARTIAL_COVERAGE": "partial", "NO_COVERAGE": "none"}
_INSIGHT, _BULLETS, _EXAMPLES = "[[INSIGHT]]", "[[BULLETS]]", "[[FEW_SHOT_EXAMPLES]]"
"""Fields of SummHay's published prompt."""


class CoverageReply(LabelReply):
    """Covered exactly when a bullet is named."""

    name = "coverage"
    item = "insight"
    passage = "bullet"
    labels = COVERAGES

    label: Coverage = Field(alias="coverage")
    numbers: list[StrictInt] = Field(alias="bullet_ids", max_length=1000)

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, value: Any) -> Any:
        """Take the words of SummHay's published prompt too: FULL_COVERAGE, and a bullet, several or “NA”."""
        if not isinstance(value, dict):
            return value
        value = dict(value)
        if isinstance(said := value.get("coverage"), str):
            value["coverage"] = PUBLISHED.get(said.strip().upper(), said)
        if "bullet_ids" not in value and "bullet_id" in value:
            named = value["bullet_id"]
            value["bullet_ids"] = named if isinstance(named, list) else [] if named == "NA" else [named]
        return value

    @classmethod
    def contradiction(cls, label: str, numbers: Sequence[int]) -> str:
        """Why label and bullets do not go together, if so: covered exactly when a bullet is named."""
        if label == Coverage.NONE and numbers:
            return "“none” must name no bullet."
        return f"“{label}” must name a bullet." if label != Coverage.NONE and not numbers else ""


@dataclass(frozen=True, kw_only=True)
class CoverageQuestion(LabelQuestion):
    """A summary's bullets and the insights to look for; `bullets` are (line number, text without its marks).

    `examples` follow the prompt. A published prompt is a `template` with fields of its own, and the whole request:
    it gets all `lines` as they are, and its reply is held to no schema.
    """

    bullets: tuple[tuple[int, str], ...]
    lines: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    template: str = ""

    task = "coverage"
    reply_model = CoverageReply
    headings = Headings("Bullets:", "Insight:", "Insights:", "Answer:")

    @property
    def numbered(self) -> Sequence[tuple[int, str]]:
        return tuple(enumerate(self.lines, 1)) if self.template else self.bullets

    def prompt(self, config: ModelConfig) -> str:
        """The wording with its examples; empty where a template is the whole request."""
        if self.template:
            return ""
        base = super().prompt(config)
        several = self.protocol == "all"
        return f"{base}\n\n{worded(self.examples, several=several)}" if self.examples else base

    def user_text(self) -> str:
        """Bullets and insights, or the template with both filled in."""
        if not self.template:
            return super().user_text()
        lines = [{"bullet_id": number, "text": text} for number, text in self.numbered]
        values = {
            _INSIGHT: self.items[0].text,
            _BULLETS: json.dumps({"bullets": lines}, indent=1, ensure_ascii=False),
            _EXAMPLES: worded(self.examples, several=False) if self.examples else "",
        }
        pattern = re.compile("|".join(map(re.escape, values)))
        return pattern.sub(lambda match: values[match.group()], self.template)

    def schema(self) -> tuple[str, dict[str, Any]] | None:
        return None if self.template else super().schema()

    def input_of(self, key: str) -> str:
        """The bullets and the insight."""
        return digest(self.bullets, self.texts_of(key))


def bullets_of(lines: Sequence[str]) -> tuple[tuple[int, str], ...]:
    """Lines that can say something: no headings and no opening words, unless there is nothing else."""
    known = [line for line in lines_from_list(lines) if line.n_words]
    points = [line for line in known if line.kind in {LineKind.BULLET, LineKind.OTHER}]
    return tuple((line.number, line.plain) for line in points or known)


class CoverageTask(PairTask):
    """A verdict for each summary and insight."""

    name = JudgeRun.Task.COVERAGE
    subject = "summary"
    subjects = "summaries"
    related = "summary"
    order_by = "summary__haystack"
    model = Verdict
    item = "insight"
    has_repeats = True
    has_offline = True
    labels = Labels(
        progress="%(done)s of %(total)s summaries judged",
        stale=ngettext_lazy(
            "%(n)d verdict is stale: the bullets or the insight have changed since it was given.",
            "%(n)d verdicts are stale: the bullets or the insight have changed since they were given.",
            "n",
        ),
    )

    def n_pairs(self, judge: Judge) -> Combinable:
        return n_of(Insight.objects.filter(subtopic=OuterRef("subtopic")))

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        """A jury is asked what all of its members have judged."""
        counts = super()._counts(judge=judge, subjects=subjects, repeats=repeats)
        if judge.kind != Judge.Kind.JURY:
            return counts
        complete = versions.n_judged_by_all(jury=judge, summaries=list(counts))
        return {pk: Counts(complete.get(pk, 0), its.n_there) for pk, its in counts.items()}

    def sheets(self, subjects: Sequence[Summary], *, judge: Judge, config: ModelConfig) -> Iterator[Sheet]:
        insights = texts.insights_by_subtopic({summary.subtopic_id for summary in subjects})
        examples = _examples(config, subjects)
        template = config.prompt if config.protocol == "one" and has_fields(config.prompt) else ""
        for summary in subjects:
            ask = partial(
                CoverageQuestion,
                subject_key=str(summary.pk),
                bullets=bullets_of(summary.lines),
                lines=tuple(summary.lines) if template else (),
                examples=examples.get(summary.subtopic_id, ()),
                template=template,
                protocol=config.protocol,
            )
            yield Sheet(summary.pk, ask, texts.refs(insights[summary.subtopic_id]))

    def values(self, question: CoverageQuestion, answer: LabelAnswer | Problem) -> dict[str, Any]:
        usable = answer if isinstance(answer, LabelAnswer) else LabelAnswer("", "")
        return {**super().values(question, answer), **covered(usable.label, usable.numbers)}

    def offline_rows(self, *, judge: Judge, subjects: Sequence[Summary]) -> Iterable[Verdict]:
        """All insights of each summary by their words, or by what the members of a jury said."""
        if judge.kind == Judge.Kind.JURY:
            return versions.jury_verdicts(jury=judge, summaries=subjects)
        return judge_summaries(judge=judge, summaries=subjects)


def has_fields(prompt: str) -> bool:
    """Whether a prompt says itself where bullets and insight stand, as SummHay's published one."""
    return _BULLETS in prompt and _INSIGHT in prompt


def _examples(config: ModelConfig, summaries: Sequence[Summary]) -> dict[int, tuple[Example, ...]]:
    """The examples that are shown for each subtopic, none of them its own; a query where there are any."""
    if config.examples is None:
        return {}
    rows = Subtopic.objects.filter(pk__in={summary.subtopic_id for summary in summaries})
    return {pk: tuple(config.examples.shown(str(uid))) for pk, uid in rows.values_list("pk", "uid")}


def covered(coverage: str, lines: Sequence[int]) -> dict[str, Any]:
    """The columns of a verdict made here: covered exactly when lines are named."""
    return {"coverage": coverage, "lines": list(lines), "is_linked": bool(lines)}


def judge_summaries(*, judge: Judge, summaries: Sequence[Summary]) -> Iterator[Verdict]:
    """Ask the offline judge about all insights of summaries, haystack by haystack; the verdicts are not stored."""
    offline = offline_judge(judge.kind, judge.config)
    by_haystack = defaultdict[int, list[Summary]](list)
    for summary in summaries:
        by_haystack[summary.haystack_id].append(summary)
    for haystack_id, group in by_haystack.items():
        insights = texts.insights_by_subtopic({summary.subtopic_id for summary in group})
        background = texts.of_haystack(haystack_id)
        batch = [
            SummaryToJudge(str(summary.pk), tuple(summary.lines), tuple(texts.refs(insights[summary.subtopic_id])))
            for summary in group
        ]
        for judged, verdicts in zip(batch, offline.judge_coverage(batch, background), strict=True):
            hashed = digest(judged.lines, [insight.text for insight in judged.insights], background.version)
            for verdict in verdicts:
                row = Verdict(
                    summary_id=int(judged.key),
                    insight_id=int(verdict.insight_key),
                    score=verdict.score,
                    input_sha256=hashed,
                    **covered(verdict.coverage.value, verdict.lines),
                )
                if verdict.probabilities is not None:
                    row.p_partial, row.p_full = verdict.probabilities.partial, verdict.probabilities.full
                yield row


COVERAGE = CoverageTask()


class SentTask(Task):
    """Coverage by summaries that programs send; answers stand in their rows, where no figure counts them.

    Requests are those of coverage, so that what was asked before is not paid again.
    """

    name = JudgeRun.Task.SENT
    subject = "other"
    subjects = "summaries"
    related = ""
    order_by = "other"
    has_offline = True
    labels = Labels(progress="%(done)s of %(total)s sent summaries judged")

    def about(self, subject: SentSummary) -> dict[str, Any]:
        return {"other": subject.pk}

    def read(self, keys: Sequence[int]) -> QuerySet[Any, Any]:
        return SentSummary.objects.filter(pk__in=keys).select_related("subtopic")

    def results_of(self, run: JudgeRun) -> tuple[int, int]:
        rows = self.read([item.subject_id for item in run.items.all()]).values_list("answers", flat=True)
        answers = [answer for row in rows for answer in row.values()]
        return len(answers), sum(not answer["is_valid"] for answer in answers)

    def _counts(self, *, judge: Judge, subjects: Sequence[Any], repeats: int) -> dict[int, Counts]:
        insights = texts.insights_by_subtopic({row.subtopic_id for row in subjects})
        return {
            row.pk: Counts(len(known), sum(str(pk) in row.answers for pk, _text in known))
            for row in subjects
            for known in [insights[row.subtopic_id]]
        }

    def questions(
        self, *, judge: Judge, config: ModelConfig, items: Sequence[JudgeRunItem], repeats: int
    ) -> dict[int, list[Question]]:
        """Those of coverage without an answer; none on a summary that is gone with its haystack."""
        rows = self.read([item.subject_id for item in items]).in_bulk()
        by_row: dict[int, list[Question]] = defaultdict(list)
        for sheet in COVERAGE.sheets(list(map(_summary, rows.values())), judge=judge, config=config):
            missing = {0: {item.key for item in sheet.items if item.key not in rows[sheet.subject].answers}}
            for repeat, group in item_groups(sheet.items, protocol=config.protocol, missing=missing):
                by_row[sheet.subject].append(sheet.ask(repeat=repeat, items=group))
        return {item.pk: by_row[item.subject_id] for item in items}

    def store(self, question: Any, answers: Mapping[str, Any], origin: Origin) -> None:
        _add(COVERAGE.row_of(question, key, answer) for key, answer in answers.items())

    def answer_offline(self, *, judge: Judge, items: Sequence[JudgeRunItem], keep: Callable[[], None]) -> Store:
        rows = self.read([item.subject_id for item in items])
        verdicts = list(judge_summaries(judge=judge, summaries=list(map(_summary, rows))))
        return lambda _origin: _add(verdicts)


def _summary(row: SentSummary) -> Summary:
    """It as a summary that is never stored."""
    return Summary(pk=row.pk, subtopic_id=row.subtopic_id, haystack_id=row.subtopic.haystack_id, text=row.text)


def _add(verdicts: Iterable[Verdict]) -> None:
    """Write verdicts into the rows of their summaries, which are held meanwhile; what is there already stays."""
    by_row: dict[int, dict[str, Any]] = defaultdict(dict)
    for verdict in verdicts:
        names = ("coverage", "lines", "p_partial", "p_full", "is_valid")
        by_row[verdict.summary_id][str(verdict.insight_id)] = {name: getattr(verdict, name) for name in names}
    for row in SentSummary.objects.filter(pk__in=by_row).select_for_update().order_by("pk"):
        row.answers = by_row[row.pk] | row.answers
        row.save(update_fields=["answers"])
