"""Store a small database of a release, with rows of every kind: `python -m tests.released.make 0.2.0`.

Later releases migrate it in `test_upgrade.py`, so it is made once, when a version is tagged, and never again.
"""

import gzip
import os
import sqlite3
import subprocess
import sys
import tempfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import django

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
KEPT = {"benchmarks.Verdict": 80, "benchmarks.PointVerdict": 60, "benchmarks.Result": 5}
"""Of these the demo has so many that only the first are stored."""


def main(version: str) -> None:
    """Load the demo into an empty database, add what it lacks, and store it as SQL."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "DATA_DIR": folder,
            "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3",
            "CELERY_BROKER_URL": "memory://",
            "DJANGO_SETTINGS_MODULE": "summhay_site.settings",
        }
        for command in (["migrate"], ["load_demo"]):
            subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, check=True)
        django.setup()
        fill()
        with sqlite3.connect(f"{folder}/db.sqlite3") as connection:
            connection.execute("vacuum")
            lines = [line for line in connection.iterdump() if 'INTO "django_session"' not in line]
        with gzip.GzipFile(FOLDER / f"{version}.sql.gz", "wb", mtime=0) as file:
            file.write("\n".join(lines).encode())


def fill() -> None:
    """Give every table of the three apps a row, and thin out the longest."""
    from django.apps import apps

    for name, n in KEPT.items():
        rows = apps.get_model(name).objects.order_by("pk")
        rows.exclude(pk__in=list(rows.values_list("pk", flat=True)[:n])).delete()
    models = [model for label in ("summhay_site", "benchmarks", "annotation") for model in _models(label)]
    waiting = [model for model in models if not model.objects.exists()]
    while waiting:
        ready = [model for model in waiting if not _needs(model) & set(waiting) - {model}]
        for model in ready:
            model.objects.create(**_values(model))
        waiting = [model for model in waiting if model not in ready]
    for field in (field for model in models for field in model._meta.many_to_many):
        if not field.remote_field.through.objects.exists() and field.related_model.objects.exists():
            getattr(field.model.objects.first(), field.name).add(field.related_model.objects.first())


def _models(label: str) -> list[Any]:
    from django.apps import apps

    return list(apps.get_app_config(label).get_models())


def _needs(model) -> set[Any]:
    return {field.related_model for field in model._meta.fields if field.is_relation and not field.null}


def _values(model) -> dict[str, Any]:
    """Something for every field that needs a value; texts and numbers that say nothing."""
    given = SPECIAL.get(model._meta.label, {})
    found: dict[str, Any] = {}
    for field in model._meta.fields:
        if (
            field.name in given
            or field.primary_key
            or field.has_default()
            or (field.null and not field.is_relation)
        ):
            continue
        if field.is_relation:
            found[field.name] = None if field.null else field.related_model.objects.order_by("pk").first()
        elif not field.null and not field.blank:
            found[field.name] = PLAIN[field.get_internal_type()]
    return found | given


PLAIN: dict[str, Any] = {
    "CharField": "a",
    "SlugField": "a",
    "TextField": "a",
    "BooleanField": True,
    "IntegerField": 1,
    "BigIntegerField": 1,
    "PositiveIntegerField": 1,
    "PositiveBigIntegerField": 1,
    "PositiveSmallIntegerField": 1,
    "FloatField": 0.5,
    "DecimalField": Decimal(1),
    "DateTimeField": datetime(2026, 1, 1, tzinfo=UTC),
    "DateField": date(2026, 1, 1),
    "JSONField": {},
    "BinaryField": b"a",
}
SPECIAL: dict[str, dict[str, Any]] = {
    "benchmarks.JudgeCall": {"response_format": "json_schema", "state": "failed"},
    "benchmarks.SummaryRating": {"aspect": "overall", "value": 3},
    "benchmarks.KeyPointVerdict": {"judgment": "grounded", "answer": "yes"},
    "annotation.CoverageAdjudication": {"coverage": "none", "is_linked": False},
    "annotation.JudgeApproval": {"dataset": "a", "absolute": "safe", "ranking": "safe"},
    "annotation.PackedRows": {"table": "events"},
    "annotation.RecruitmentLink": {"id_parameter": "a", "completion_code": "a"},
    "annotation.Removal": {"mode": "deleted"},
    "annotation.LabelKey": {"coverage": "none"},
    "annotation.PointAdjudication": {"grounded": "no"},
    "annotation.DatasetVersion": {"rule": "majority"},
    "annotation.LateDecision": {"is_accepted": False},
}

if __name__ == "__main__":
    main(sys.argv[1])
