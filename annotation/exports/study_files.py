"""The files of a study of any kind, as its archive holds them; people appear as annotator1, annotator2 …"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any

import orjson
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.kinds import StudyFile, kind_named
from annotation.models import ConsentText, Study, TrialAnswer
from annotation.states import ItemRole
from annotation.studies.kind import Work
from annotation.studies.rows import csv_file, jsonl_file, pseudonyms_of
from benchmarks.web.downloads import is_available, parquet

ANNOTATOR_COLUMNS = ("annotator", "joined_at", "left_at")
TRIAL_COLUMNS = ("annotator", "role", "try", "example", "question", "answer", "is_right", "is_passed", "made_at")


def files_of(
    study: Study, *, now: datetime, consent_texts: Sequence[ConsentText] | None = None
) -> list[StudyFile]:
    """Labels in every selection, what the kind of the study adds, people, guidelines and consent texts.

    Consent texts are those that people agreed to, where they are known already. Where Parquet can be made, it
    stands beside the CSV of labels and sessions.
    """
    kind = kind_named(study.kind)
    files = [
        *(_label_files(study, kind) if isinstance(kind, Work) else ()),
        *kind.files(study, now),
        csv_file("annotators.csv", "Participants", ANNOTATOR_COLUMNS, partial(_annotators, study)),
        *(
            [
                csv_file(
                    "trial-answers.csv",
                    "Answers of the trial: training, in no figure",
                    TRIAL_COLUMNS,
                    partial(_trial_answers, study),
                )
            ]
            if study.has_trial or study.trials.all()
            else ()
        ),
        *(
            StudyFile(f"trial-examples/{number}.toml", "Trial examples of its own", partial(_text, row.body))
            for number, row in enumerate(study.trial_examples.exclude(body="").order_by("pk"), 1)
        ),
        *(
            StudyFile(f"guidelines/{row.version}.md", _("Guidelines"), partial(_text, row.body))
            for row in sorted(study.guidelines.all(), key=attrgetter("version"))
        ),
        *(
            StudyFile(f"consent/{row.version}.md", "Consent texts", partial(_text, row.body))
            for row in (agreed_texts(study) if consent_texts is None else consent_texts)
        ),
    ]
    return [kept for file in files for kept in (file, *as_parquet(file))]


def as_parquet(file: StudyFile) -> list[StudyFile]:
    """A table as Parquet, where that can be made."""
    if file.rows is None or not is_available():
        return []
    name = file.name.removesuffix(".csv") + ".parquet"
    return [StudyFile(name, file.title, partial(parquet, file.columns, file.rows))]


def agreed_texts(study: Study) -> QuerySet[ConsentText]:
    """The versions of the consent text that people of a study agreed to."""
    texts = ConsentText.objects.filter(consents__annotator__memberships__study=study)
    return texts.distinct().order_by("version")


def _label_files(study: Study, kind: Work) -> Iterator[StudyFile]:
    for place, (which, title) in enumerate(kind.label_files):
        name = f"labels-{which}" if place else "labels"
        rows = partial(kind.label_rows, study, which)
        yield csv_file(f"{name}.csv", title, kind.label_columns, rows, kind.label_cells)
        yield jsonl_file(f"{name}.jsonl", title, kind.label_columns, rows)


def _annotators(study: Study) -> Iterator[tuple[str, str, str]]:
    for member in study.memberships.order_by("number"):
        yield (
            member.pseudonym,
            member.joined_at.isoformat(),
            member.left_at.isoformat() if member.left_at else "",
        )


def _trial_answers(study: Study) -> Iterator[tuple[Any, ...]]:
    names = pseudonyms_of(study)
    rows = TrialAnswer.objects.filter(trial__study=study).select_related("trial").order_by("trial", "pk")
    for row in rows:
        trial = row.trial
        yield (
            names.get(trial.annotator_id, "unknown"),
            ItemRole.TRAINING.value,
            trial.number,
            row.item,
            row.question,
            orjson.dumps(row.answer).decode(),
            row.is_right,
            trial.is_passed,
            row.made_at.isoformat(),
        )


def _text(body: str) -> list[str]:
    return [body.rstrip("\n") + "\n"]
