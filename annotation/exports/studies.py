"""The archive of a study: its data, results, methods section and descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import IO, Any

from annotation.exports import describing
from annotation.exports.archive import Contents, methods, write
from annotation.exports.cards import Card, Packed
from annotation.exports.figures import Draw, Made, draw_now, figures_of, result_files
from annotation.exports.study_files import as_parquet, files_of
from annotation.kinds import StudyFile, kind_named, kinds
from annotation.models import Study
from annotation.studies.rows import archive_name
from benchmarks.models import Haystack, Question


def write_archive(
    out: IO[bytes], study: Study, *, licence: str, now: datetime, draw: Draw = draw_now
) -> dict[str, Any]:
    """Write the zip and give its manifest, which it holds too."""
    made = figures_of(study, now=now)
    return write(out, contents_of(study, made, licence=licence, now=now, draw=draw))


def contents_of(study: Study, made: Made | None, *, licence: str, now: datetime, draw: Draw) -> Contents:
    """What the archive of a study holds, with these figures."""
    about = describing.described(study, now=now)
    told = methods().of_study(about, made)

    def sheet(files: Sequence[Packed]) -> str:
        return describing.data_sheet(about, files=files, licence=licence, methods=told)

    return Contents(
        card=_card(about, licence=licence, has_methods=bool(told)),
        files=_files(about, made, draw=draw),
        methods=told,
        told=sheet,
        facts=about.as_json(),
    )


def peoples_texts(haystack: Haystack) -> dict[int, list[Any]]:
    """What people wrote on a haystack in studies of any kind, by subtopic, as its file has summaries."""
    return {pk: texts for kind in kinds() for pk, texts in kind.texts_on(haystack).items()}


def _files(about: describing.Described, made: Made | None, *, draw: Draw) -> Iterator[StudyFile]:
    yield from files_of(about.study, now=about.made_at, consent_texts=about.consent_texts)
    for file in result_files(made, draw=draw) if made is not None else ():
        yield from (file, *as_parquet(file))


def _card(about: describing.Described, *, licence: str, has_methods: bool) -> Card:
    study = about.study
    kind, task = str(about.kind), kind_named(study.kind).hub_task
    corpora = ", ".join(f"{corpus.kind} “{corpus.title}”" for corpus in about.corpora)
    description = study.description or f"Data of a study of {kind}" + (f" on {corpora}." if corpora else ".")
    people = "Annotators appear as annotator1, annotator2 …; comments and texts that they wrote are unchanged."
    return Card(
        name=archive_name(study),
        title=study.name,
        description=description,
        uid=str(study.uid),
        made_at=about.made_at,
        licence=licence,
        tags=("summarization", "human-annotation", *(["evaluation"] if task != "summarization" else [])),
        task_categories=(task,) if task else (),
        languages=_languages(about),
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


def _languages(about: describing.Described) -> list[str]:
    keys: dict[str, list[str]] = {}
    for corpus in about.corpora:
        keys.setdefault(corpus.kind, []).append(corpus.key)
    rows = [
        Haystack.objects.filter(key__in=keys.get("haystack", ())).order_by(),
        Question.objects.filter(dataset__in=keys.get("question set", ())).order_by(),
    ]
    return sorted({language for some in rows for language in some.values_list("language", flat=True).distinct()})
