"""The archive of a study of any kind: its files, results and methods, and what is said of it in words.

People appear as annotator1, annotator2 …
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import IO, Any

import orjson
from django.db.models import F, Q, QuerySet, prefetch_related_objects
from django.template.loader import render_to_string

from annotation.exports import report_card
from annotation.exports.archive import Card, Contents, Packed, methods, write
from annotation.exports.described import Corpus, Described
from annotation.exports.figures import Draw, Made, draw_now, figures_of, result_files
from annotation.kinds import SUMMARIES, StudyFile, Text, kind_named, kinds
from annotation.models import ConsentText, Study, TrialAnswer
from annotation.states import ItemRole
from annotation.studies.kind import Work, has_plan
from annotation.studies.rows import (
    PERSON,
    Columns,
    archive_name,
    csv_file,
    hashed,
    jsonl_file,
    removed_from,
    rows_of,
)
from benchmarks.io.schemas import long2rag
from benchmarks.io.writers import questions_of
from benchmarks.models import Haystack, Question
from benchmarks.web.downloads import is_available, parquet

ANNOTATORS: Columns = {
    "annotator": PERSON,
    "joined_at": "joined_at",
    "left_at": (lambda left_at: left_at.isoformat() if left_at else "", "left_at"),
}
TRIAL_ANSWERS: Columns = {
    "annotator": PERSON,
    "role": (lambda: ItemRole.TRAINING.value,),
    "try": "trial__number",
    "example": "item",
    "question": "question",
    "answer": (lambda answer: orjson.dumps(answer).decode(), "answer"),
    "is_right": "is_right",
    "is_passed": "trial__is_passed",
    "made_at": "made_at",
}


def described(study: Study, *, now: datetime, with_hashes: bool = True) -> Described:
    """Collect what the data sheet, the manifest and the methods section say of a study.

    Without hashes question sets have no data version: to compute it all of their texts are read.
    """
    kind = kind_named(study.kind)
    prefetch_related_objects([study], "memberships", "guidelines", "trials")
    items, labels = study.label_items.order_by(), study.coveragelabels.order_by()
    of_labels = Q(pk__in=items.values("summary__haystack")) | Q(pk__in=labels.values("summary__haystack"))
    of_study = of_labels | Q(subtopics__writing_plans__study=study)
    haystacks = Haystack.objects.filter(of_study).distinct().order_by("title", "pk")
    sets = items.exclude(key_point=None).values_list("key_point__question__dataset", flat=True).distinct()
    corpora = [Corpus("haystack", row.key, row.title, row.content_sha256) for row in haystacks]
    for name in () if kind_named(study.kind).judged == SUMMARIES else sorted(sets):
        rows = Question.objects.of(dataset=name)
        sha256 = hashed(long2rag.dump(questions_of(rows))) if with_hashes else ""
        corpora.append(Corpus("question set", name, name, sha256))
    return Described(
        study=study,
        kind=kind.label,
        made_at=now,
        n_people=len(study.memberships.all()),
        guideline_versions=tuple(sorted(row.version for row in study.guidelines.all())),
        consent_texts=tuple(agreed_texts(study)),
        corpora=tuple(corpora),
        is_planned=isinstance(kind, Work) and has_plan(study),
        removed=removed_from(study),
    )


def data_sheet(about: Described, files: Sequence[Packed], *, licence: str, methods: str) -> str:
    """A description of the archive and how it came about, in Markdown."""
    context = {"about": about, "files": files, "licence": licence, "methods": methods}
    return render_to_string("annotation/datasheet.md", context)


# Files


def files_of(
    study: Study, *, now: datetime, consent_texts: Sequence[ConsentText] | None = None
) -> list[StudyFile]:
    """Labels in every selection, what the kind of the study adds, people, guidelines and consent texts.

    Consent texts are those that people agreed to, where they are known already. Where Parquet can be made, it
    stands beside the CSV of labels and sessions.
    """
    kind = kind_named(study.kind)
    members = study.memberships.order_by("number")
    answers = TrialAnswer.objects.filter(trial__study=study).annotate(annotator_id=F("trial__annotator"))
    trial = csv_file(
        "trial-answers.csv",
        "Answers of the trial: training, in no figure",
        TRIAL_ANSWERS,
        lambda: rows_of(study, answers.order_by("trial", "pk"), TRIAL_ANSWERS),
    )
    examples = study.trial_examples.exclude(body="").order_by("pk")
    guidelines = sorted(study.guidelines.all(), key=attrgetter("version"))
    agreed: Iterable[Any] = agreed_texts(study) if consent_texts is None else consent_texts
    texts: tuple[tuple[str, Text, Any], ...] = (
        *((f"trial-examples/{at}.toml", "Trial examples of its own", row) for at, row in enumerate(examples, 1)),
        *((f"guidelines/{row.version}.md", "Guidelines", row) for row in guidelines),
        *((f"consent/{row.version}.md", "Consent texts", row) for row in agreed),
    )
    files = [
        *(_label_files(study, kind) if isinstance(kind, Work) else ()),
        *kind.files(study, now),
        csv_file("annotators.csv", "Participants", ANNOTATORS, lambda: rows_of(study, members, ANNOTATORS)),
        *([trial] if study.has_trial or study.trials.all() else ()),
        *(StudyFile(name, title, partial(_text, row.body)) for name, title, row in texts),
    ]
    return [kept for file in files for kept in (file, *as_parquet(file))]


def as_parquet(file: StudyFile) -> list[StudyFile]:
    if file.rows is None or not is_available():
        return []
    name = file.name.removesuffix(".csv") + ".parquet"
    return [StudyFile(name, file.title, partial(parquet, file.columns, file.rows))]


def agreed_texts(study: Study) -> QuerySet[ConsentText]:
    texts = ConsentText.objects.filter(consents__annotator__memberships__study=study)
    return texts.distinct().order_by("version")


def _label_files(study: Study, kind: Work) -> Iterator[StudyFile]:
    for place, (which, title) in enumerate(kind.label_files):
        name = f"labels-{which}" if place else "labels"
        rows = partial(kind.label_rows, study, which)
        yield csv_file(f"{name}.csv", title, kind.label_columns, rows, kind.label_cells)
        yield jsonl_file(f"{name}.jsonl", title, kind.label_columns, rows)


def _text(body: str) -> list[str]:
    return [body.rstrip("\n") + "\n"]


# The archive


def write_archive(
    out: IO[bytes], study: Study, *, licence: str, now: datetime, draw: Draw = draw_now
) -> dict[str, Any]:
    """Write the zip and give its manifest, which it holds too."""
    made = figures_of(study, now=now)
    return write(out, contents_of(study, made, licence=licence, now=now, draw=draw))


def contents_of(study: Study, made: Made | None, *, licence: str, now: datetime, draw: Draw) -> Contents:
    about = described(study, now=now)
    told = methods().of_study(about, made)
    return Contents(
        card=_card(about, licence=licence, has_methods=bool(told)),
        files=_files(about, made, draw=draw),
        methods=told,
        told=partial(data_sheet, about, licence=licence, methods=told),
        facts=about.as_json(),
    )


def peoples_texts(haystack: Haystack) -> dict[int, list[Any]]:
    """Texts of people on a haystack in studies of any kind, by subtopic, as its file has summaries."""
    return {pk: texts for kind in kinds() for pk, texts in kind.texts_on(haystack).items()}


def _files(about: Described, made: Made | None, *, draw: Draw) -> Iterator[StudyFile]:
    yield from files_of(about.study, now=about.made_at, consent_texts=about.consent_texts)
    for file in result_files(made, draw=draw) if made is not None else ():
        yield from (file, *as_parquet(file))
    yield from report_card.files_of(report_card.rows_of(about, made))


def _card(about: Described, *, licence: str, has_methods: bool) -> Card:
    study = about.study
    kind, task = str(about.kind), kind_named(study.kind).hub_task
    corpora = ", ".join(f"{corpus.kind} “{corpus.title}”" for corpus in about.corpora)
    description = study.description or f"Data of a study of {kind}" + (f" on {corpora}." if corpora else ".")
    people = "Annotators appear as annotator1, annotator2 …; comments and texts that they wrote are unchanged."
    keys = {kind: [row.key for row in about.corpora if row.kind == kind] for kind in ("haystack", "question set")}
    rows = (
        Haystack.objects.filter(key__in=keys["haystack"]),
        Question.objects.filter(dataset__in=keys["question set"]),
    )
    return Card(
        name=archive_name(study),
        title=study.name,
        description=description,
        uid=str(study.uid),
        made_at=about.made_at,
        licence=licence,
        tags=("summarization", "human-annotation", *(["evaluation"] if task != "summarization" else [])),
        task_categories=(task,) if task else (),
        languages=sorted(
            {name for some in rows for name in some.order_by().values_list("language", flat=True).distinct()}
        ),
        rai={
            "dataCollection": f"A study of {kind} with {about.n_people} annotators"
            + ("; README.md has the methods." if has_methods else "."),
            "dataCollectionType": "Human annotation",
            "dataAnnotationPlatform": "summhay",
            "dataAnnotationProtocol": "guidelines/" if about.guideline_versions else "",
            "annotatorDemographics": "Not recorded.",
            "personalSensitiveInformation": people,
            "dataUseCases": "Agreement of people, evaluation of judges, comparison of systems with people.",
            "dataBiases": "Figures are of these annotators and texts; README.md says how both were chosen.",
        },
    )
