"""Annotated summaries, out and in: labels of people, predictions of judges, and the texts that both are about.

People appear as annotator1, annotator2 …, stable within the study; of a single person the labels have no name. A
label or prediction that differs from what was imported before is an error: labels never change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from annotation.coverage.collect import study_of_published_labels
from annotation.importing.label_studies import LABELS, PERMISSION, LabelPlan, PlacedLabel, address_of_figures
from annotation.importing.opened import Opened
from annotation.models import CoverageLabel, Study
from annotation.studies.kind import NotPossible
from annotation.studies.rows import Tally, pseudonyms_of
from benchmarks import system_names as systems
from benchmarks.engine.versions import fitted_haystacks, judges_called, names_of_haystack
from benchmarks.io import published
from benchmarks.io.formats import Format
from benchmarks.io.plan import ImportRequest
from benchmarks.io.reading.problems import Problems
from benchmarks.io.schemas import eval_benchmark
from benchmarks.io.schemas.eval_benchmark import PERSON, BenchmarkEntry
from benchmarks.io.schemas.topics import TopicInsight, TopicVerdict
from benchmarks.models import Haystack, Insight, Judge, Subtopic, Summary, System, Verdict
from benchmarks.scoring.text import without_emphasis

Answers = dict[int, dict[str, list[TopicVerdict]]]
"""{summary pk: {name: answers}}."""
CHUNK = 2_000
IMPORTED = "imported"
DEFAULT_DATASET = "summhay-eval-benchmark"


def haystacks_of(study: Study) -> QuerySet[Haystack]:
    """The haystacks whose insights are labelled, or are to be."""
    to_label = study.label_items.order_by().values("summary")
    labelled = study.coveragelabels.order_by().values("summary")
    summaries = Summary.objects.filter(Q(pk__in=to_label) | Q(pk__in=labelled)).order_by()
    haystacks: QuerySet[Haystack] = Haystack.objects.filter(pk__in=summaries.values("haystack"))
    return haystacks


class NobodyLabelled(Exception):
    """There is no such annotator in the study, or no label that enters figures."""


def entries_of(study: Study, *, annotator: str = "") -> Iterator[BenchmarkEntry]:
    """Every labelled summary, in the order of the first labels, with what enters figures; five queries.

    `annotator` is a pseudonym; only this person's labels are taken then.

    Raises:
        NobodyLabelled: there is no label.
    """
    people = _labels(study, annotator)
    if not people:
        raise NobodyLabelled
    return _entries(study, people, is_named=len({name for answers in people.values() for name in answers}) > 1)


def _entries(study: Study, people: Answers, *, is_named: bool) -> Iterator[BenchmarkEntry]:
    rows = Summary.objects.select_related("haystack", "subtopic", "system").in_bulk(list(people))
    insights: dict[int, list[TopicInsight]] = defaultdict(list)
    for subtopic, key, name, text in (
        Insight.objects.filter(subtopic__in={row.subtopic_id for row in rows.values()})
        .order_by("subtopic", "number")
        .values_list("subtopic", "key", "name", "text")
    ):
        insights[subtopic].append(TopicInsight(key=key, name=name, text=text))
    known = {str(judge): judge for judge in Judge.objects.counted()}
    fitted_on = fitted_haystacks(list(known.values()))
    predictions = _predictions(study, {judge.pk: name for name, judge in known.items()})
    judges = sorted({name for answers in predictions.values() for name in answers})
    for pk, answers in people.items():
        row = rows[pk]
        haystack, subtopic = row.haystack, row.subtopic
        keys = names_of_haystack(haystack.key, haystack.metadata.get("source_name"))
        yield BenchmarkEntry(
            haystack_key=haystack.key,
            haystack_title=haystack.metadata.get("source_title", haystack.title),
            subtopic_key=subtopic.key,
            subtopic=subtopic.description or subtopic.name,
            insights=tuple(insights[subtopic.pk]),
            system=systems.parse_system(row.system.key),
            lines=tuple(row.lines),
            human=() if is_named else tuple(next(iter(answers.values()))),
            predictions={name: tuple(predictions[pk][name]) for name in judges if name in predictions[pk]},
            people={name: tuple(answers[name]) for name in sorted(answers, key=_in_order)} if is_named else {},
            fitted=frozenset(name for name in predictions[pk] if fitted_on[known[name].pk] & keys),
        )


def dump_of(study: Study) -> Iterator[bytes]:
    """The file of annotated summaries, with an empty list where there is no label yet."""
    try:
        entries = entries_of(study)
    except NobodyLabelled:
        entries = iter(())
    return eval_benchmark.dump(entries)


def export_dataset(study: Study, options: Mapping[str, Any], write: Callable[..., Any]) -> str:
    """Write them as `export_dataset` is told, and say how many there are; raises `NotPossible`."""
    try:
        entries = Tally(entries_of(study, annotator=options["annotator"]))
    except NobodyLabelled as problem:
        known = ", ".join(member.pseudonym for member in study.memberships.order_by("number"))
        reason = f"There are no such labels in “{study.name}”; annotators: {known or 'none'}."
        raise NotPossible(reason) from problem
    write(options["out"], eval_benchmark.dump(entries))
    return f"{entries.n:,} annotated summaries in {options['out']}"


def _in_order(name: str) -> tuple[int, str]:
    """So that annotator2 comes before annotator10."""
    return len(name), name


def _labels(study: Study, annotator: str) -> Answers:
    names = pseudonyms_of(study)
    rows = study.coveragelabels.for_figures().order_by("made_at", "pk")
    if annotator:
        rows = rows.filter(annotator__in=[pk for pk, name in names.items() if name == annotator])
    labels: Answers = {}
    fields = ("annotator", "summary", "insight__key", "coverage", "lines", "raw")
    for person, summary, key, coverage, lines, raw in rows.values_list(*fields).iterator(chunk_size=CHUNK):
        answers = labels.setdefault(summary, {}).setdefault(names.get(person, "unknown"), [])
        answers.append(TopicVerdict(insight_key=key, coverage=coverage, lines=tuple(lines), raw=raw))
    return labels


def _predictions(study: Study, names: Mapping[int, str]) -> dict[int, dict[str, list[TopicVerdict]]]:
    """The first answers of the judges that are named, by summary and name."""
    labelled = study.coveragelabels.for_figures().order_by().values("summary")
    rows = Verdict.objects.filter(summary__in=labelled, judge__in=names, repeat=0).order_by("pk")
    predictions: dict[int, dict[str, list[TopicVerdict]]] = defaultdict(lambda: defaultdict(list))
    fields = ("judge", "summary", "insight__key", "coverage", "lines", "raw", "is_imported", "is_valid")
    for judge, summary, key, coverage, lines, raw, is_imported, is_valid in rows.values_list(*fields).iterator(
        chunk_size=CHUNK
    ):
        verdict = TopicVerdict(key, coverage, tuple(lines), raw=raw if is_imported else {})
        predictions[summary][names[judge]].append(verdict if is_valid else TopicVerdict(key, "", ()))
    return predictions


# In


Said = tuple[Summary, Insight, TopicVerdict, str]
"""A prediction after the rows that it is about, and where it stands in the file."""


class AnnotatedSummariesPlan(LabelPlan[Sequence[BenchmarkEntry]]):
    """Labels of annotator "imported", or of those the file names, and predictions as imported judges.

    The texts that they are about may be new too.

    Haystacks, subtopics and insights that are known by their keys are used as they are, summaries if they also
    have the same text. Another text of the same system is another summary, which no leaderboard counts.
    """

    MODELS = (*LabelPlan.MODELS, Judge, System, Haystack, Subtopic, Insight, Summary, CoverageLabel, Verdict)
    NEVER = "Texts and labels never change; give the file another dataset, or the judge another name."

    def __init__(self, request: ImportRequest, problems: Problems) -> None:
        super().__init__(request, problems)
        self.dataset = self.dataset or DEFAULT_DATASET
        self.haystacks: dict[str, Haystack] = {}
        self.subtopics: dict[tuple[UUID, str], Subtopic] = {}
        self.insights: dict[tuple[UUID, str], Insight] = {}
        self.summaries: dict[tuple[UUID, str, str], Summary] = {}
        self.have_text: set[tuple[UUID, str]] = set()
        self.judges: dict[str, Judge] = {}
        self.fitted_on: dict[str, set[str]] = defaultdict(set)
        self.counted: set[UUID] = set()
        self.labels: dict[str, published.Answers] = defaultdict(dict)
        self.verdicts: dict[str, published.Answers] = defaultdict(dict)

    @classmethod
    def read(cls, archive: Opened) -> tuple[Sequence[BenchmarkEntry], Iterable[Mapping[str, Any]]]:
        """Where one person's labels count the summaries name nobody, and the labels say who it was."""
        with archive.stream("annotated-summaries.json") as stream:
            entries: Sequence[BenchmarkEntry] = eval_benchmark.parse(stream, problems=archive.problems)
        labels = archive.rows(LABELS, PlacedLabel)
        names = {row.annotator for row in labels if row.is_complete}
        if len(names) == 1 and any(entry.human for entry in entries):
            [name] = names
            entries = [
                replace(entry, human=(), people={name: entry.human} if entry.human else {}) for entry in entries
            ]
        return entries, cls.placed(labels)

    def take(self, rows: Sequence[BenchmarkEntry]) -> None:
        """Compare the summaries of one file with their labels and predictions."""
        if self.study is None:
            name = self.request.options.get("study") or study_of_published_labels(self.dataset)
            study = self.find_study(name, kind=Study.Kind.LINKING)
            if not self.is_new:
                known = study.coveragelabels.filter(is_current=True, annotator__user=None)
                values = known.values_list("annotator__label", "summary", "insight", "coverage", "lines")
                for name, summary, insight, coverage, lines in values:
                    self.labels[name][summary, insight] = (coverage, tuple(lines))
        for name in sorted({name for entry in rows for name in entry.people}, key=_in_order):
            self.annotator(name)
        for entry in rows:
            for name in entry.fitted:
                self.fitted_on[name].add(self._haystack(entry).key)
        self.know({entry.system.key: published.new_system(entry.system) for entry in rows}, kind="")
        said: dict[str, list[Said]] = defaultdict(list)
        for index, entry in enumerate(rows):
            for name, incoming in self._take(entry, f"[{index}]"):
                said[name].append(incoming)
        for name, predictions in said.items():
            self._predictions(name, predictions)

    def _take(self, entry: BenchmarkEntry, where: str) -> Iterator[tuple[str, Said]]:
        """Take the texts and the labels of a summary; gives what judges say of it, by name."""
        haystack = self._haystack(entry)
        subtopic = self._subtopic(haystack, entry)
        insights = {insight.key: self._insight(subtopic, insight, where) for insight in entry.insights}
        summary = self._summary(haystack, subtopic, entry)
        for name, labels in ({IMPORTED: entry.human} | dict(entry.people)).items():
            for label in labels:
                self._label(name, summary, insights[label.insight_key], label, where)
        for name, verdicts in entry.predictions.items():
            for verdict in verdicts:
                yield name, (summary, insights[verdict.insight_key], verdict, where)

    def _haystack(self, entry: BenchmarkEntry) -> Haystack:
        """Find it by its key or the name of its file, or make one without documents."""
        key = entry.haystack_key
        if key not in self.haystacks:
            names = [key, f"topic_{key}"]
            known = Haystack.objects.filter(Q(key=key) | Q(metadata__source_name__in=names)).first()
            if known is None:
                row = Haystack(
                    key=key,
                    title=without_emphasis(entry.haystack_title),
                    metadata=published.source_title(entry.haystack_title),
                    dataset=self.dataset,
                    created_at=self.now,
                )
                self.create(row, "haystacks")
            else:
                self.unchanged["haystacks"] += 1
                for subtopic in known.subtopics.all():
                    self.subtopics[known.uid, subtopic.key] = subtopic
                for insight in Insight.objects.filter(subtopic__haystack=known).select_related("subtopic"):
                    self.insights[insight.subtopic.uid, insight.key] = insight
                for summary in Summary.objects.filter(haystack=known).select_related("subtopic", "system"):
                    self._remember(summary)
            self.haystacks[key] = known or row
        return self.haystacks[key]

    def _known(self, row: Subtopic | Insight, kind: str) -> None:
        if row.uid not in self.counted:
            self.counted.add(row.uid)
            self.unchanged[kind] += 1

    def _create(self, row: Any, kind: str, rows: dict[Any, Any], key: tuple[UUID, str]) -> None:
        """Make a subtopic or insight, numbered after the others of its owner."""
        row.number = 1 + max((row.number for (owner, _key), row in rows.items() if owner == key[0]), default=0)
        self.counted.add(row.uid)
        rows[key] = self.create(row, kind)

    def _subtopic(self, haystack: Haystack, entry: BenchmarkEntry) -> Subtopic:
        key = (haystack.uid, entry.subtopic_key)
        if key in self.subtopics:
            self._known(self.subtopics[key], "subtopics")
        else:
            row = Subtopic(haystack=haystack, key=key[1], name=entry.subtopic, query=entry.subtopic)
            self._create(row, "subtopics", self.subtopics, key)
        return self.subtopics[key]

    def _insight(self, subtopic: Subtopic, stated: TopicInsight, where: str) -> Insight:
        key = (subtopic.uid, stated.key)
        if key in self.insights:
            row = self.insights[key]
            self._known(row, "insights")
            self.same(where, insight=(row.text, stated.text))
            return row
        if subtopic.haystack.n_documents and subtopic.pk:
            self.problems.error(
                "unknown_insight",
                where,
                "reference_insights",
                expected=f"an insight of the haystack's subtopic “{subtopic.key}”",
                got=stated.key,
                message="The insights of a haystack never change.",
            )
        self._create(published.new_insight(subtopic, 0, stated), "insights", self.insights, key)
        return self.insights[key]

    def _summary(self, haystack: Haystack, subtopic: Subtopic, entry: BenchmarkEntry) -> Summary:
        """Find it by its text, or make one; where the haystack's file is there, or another text, beside it."""
        text, system = "\n".join(entry.lines), entry.system.key
        known = self.summaries.get((subtopic.uid, system, published.sha256_of(text)))
        if known is not None:
            self.unchanged["summaries"] += 1
            return known
        stands_beside = haystack.n_documents or (subtopic.uid, system) in self.have_text
        origin = Summary.Origin.ANNOTATED if stands_beside else Summary.Origin.IMPORTED
        if system == systems.HUMAN:
            origin = Summary.Origin.SESSION
        row = published.new_summary(subtopic, self.systems[system], text, now=self.now, origin=origin)
        self._remember(self.create(row, "summaries"))
        return row

    def _remember(self, row: Summary) -> None:
        self.summaries[row.subtopic.uid, row.system.key, row.text_sha256] = row
        self.have_text.add((row.subtopic.uid, row.system.key))

    def _label(self, name: str, summary: Summary, insight: Insight, label: TopicVerdict, where: str) -> None:
        place, answer = published.place_of(summary, insight), (label.coverage, label.lines)
        field = "annotation" if name == IMPORTED else PERSON + name
        if self.is_new_answer(self.labels[name], place, answer, kind="labels", where=where, name=field):
            raw = dict(label.raw)
            self.create(self.coverage_label(name, summary, insight, label, raw=raw), "labels")

    def _predictions(self, name: str, said: Sequence[Said]) -> None:
        judge = self._judge(name, said)
        known, field = self.verdicts[name], f"predictions_{judge}"
        for summary, insight, verdict, where in said:
            place, answer = published.place_of(summary, insight), (verdict.coverage, verdict.lines)
            if self.is_new_answer(known, place, answer, kind="verdicts", where=where, name=field):
                self.create(published.new_verdict(judge, summary, insight, verdict, now=self.now), "verdicts")

    def _judge(self, name: str, said: Sequence[Said]) -> Judge:
        """The judge of this name (or “NAME vN”) that says the same; one that contradicts it gets a next version.

        A version that came with such a file before stays the one: what it contradicts is an error.
        """
        judge = self.judges.get(name)
        haystacks = list({summary.haystack.uid: summary.haystack for summary, *_rest in said}.values())
        versions = [judge] if judge else list(Judge.objects.filter(name=name)) or judges_called(name)
        known = published.answers_of(versions, haystacks)
        if judge is None:
            latest = max((version.version for version in versions if version.name == name), default=0)
            config = {"fitted_on": sorted(self.fitted_on[name])} if name in self.fitted_on else {}
            new = published.new_judge(name, config=config, version=latest + 1, now=self.now)
            fitted_on, told = fitted_haystacks(versions), self.fitted_on.get(name, ())
            names_of = {row.key: names_of_haystack(row.key, row.metadata.get("source_name")) for row in haystacks}
            alike = [
                judge
                for judge in versions
                if all((key in told) == bool(fitted_on[judge.pk] & names) for key, names in names_of.items())
            ]
            incoming = {
                published.place_of(summary, insight): (verdict.coverage, verdict.lines)
                for summary, insight, verdict, _where in said
            }
            judge = published.version_said_by(alike, incoming, lambda judge: known.get(judge.pk, {}), new=new)
            judge = judge or published.of_configuration(versions, new) or self.create(new)
            self.judges[name] = judge
        self.verdicts[name] = {**known.get(judge.pk, {}), **self.verdicts[name]}
        return judge


ANNOTATED_SUMMARIES = Format(
    name="summhay-eval-benchmark",
    title="SummHay annotated summaries",
    description=(
        "A JSON list of summaries with their reference insights, the labels of people and the predictions of "
        "judges, as published for judging the judges. Links of people count lines from 0, judges' from 1."
    ),
    extensions=(".json",),
    example=eval_benchmark.EXAMPLE,
    parse=lambda file, problems, _: eval_benchmark.parse(file.path, problems=problems, **file.limits),
    plan=AnnotatedSummariesPlan,
    kinds=("haystacks", "subtopics", "insights", "summaries", "labels", "verdicts"),
    address=address_of_figures,
    permission=PERMISSION,
)
