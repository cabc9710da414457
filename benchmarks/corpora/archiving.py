"""Keeping corpora in order: archive, bring back, delete with what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db import connection, models, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Q

from benchmarks import audit
from benchmarks.models import Haystack, Insight, SourceDataset, Subtopic, Summary, Verdict

PATHS: dict[type[models.Model], str] = {
    Haystack: "pk",
    Subtopic: "haystack",
    Insight: "subtopic__haystack",
    Summary: "haystack",
}

GOES_ALONG = (models.CASCADE, models.SET_NULL)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Rows of one kind that would lose what they stand on."""

    label: str
    count: int


class InUse(Exception):
    """Raised where people's work needs what should go."""

    def __init__(self, obstacles: list[Obstacle]) -> None:
        self.obstacles = obstacles
        super().__init__(", ".join(f"{row.count} {row.label}" for row in obstacles))


def obstacles(haystack: Haystack) -> list[Obstacle]:
    """Count the rows of other apps that refer to the haystack or its parts, and do not go along by themselves."""
    return [*dependants(PATHS, haystack.pk), *left_behind(haystack)]


def left_behind(haystack: Haystack) -> list[Obstacle]:
    """Count the rows on a haystack in tables of extensions that are turned off, which cannot let go of it."""
    installed = {config.label for config in apps.get_app_configs()}
    off = ", ".join(sorted({app for app, _name in MigrationRecorder(connection).applied_migrations()} - installed))
    if not off:
        return []
    count = 0
    with connection.cursor() as cursor:
        known = connection.introspection.django_table_names()
        for table in set(connection.introspection.table_names(cursor)) - set(known):
            for column, (_to, of) in connection.introspection.get_relations(cursor, table).items():
                if of == Haystack._meta.db_table:
                    names = (connection.ops.quote_name(name) for name in (table, column))
                    cursor.execute("SELECT COUNT(*) FROM {} WHERE {} = %s".format(*names), [haystack.pk])  # noqa: S608 - our names
                    count += cursor.fetchone()[0]
    rows = "row" if count == 1 else "rows"
    return [Obstacle(f"{rows} of the extension “{off}”, which is turned off", count)] if count else []


def dependants(paths: Mapping[type[models.Model], str], value: Any) -> list[Obstacle]:
    """Count the rows of other apps that refer to rows whose `paths` lead to a value, unless they go along.

    A row counts once, however many ways lead to it. One query for each model, found from the models, so that this
    app need not know the others.
    """
    ways: dict[Any, Q] = {}
    for model, path in paths.items():
        for relation in model._meta.related_objects:
            related: Any = relation.related_model
            if related._meta.app_label != "benchmarks" and relation.on_delete not in GOES_ALONG:
                ways[related] = ways.get(related, Q()) | Q(**{f"{relation.field.name}__{path}": value})
    obstacles = []
    for related, leads_here in ways.items():
        # A row with two ways is found twice by the joins of an OR, so the rows themselves are counted.
        count = related._default_manager.filter(leads_here).order_by().values("pk").distinct().count()
        if count:
            label = str(related._meta.verbose_name_plural if count != 1 else related._meta.verbose_name)
            obstacles.append(Obstacle(label=label, count=count))
    return obstacles


def contents(haystack: Haystack) -> list[Obstacle]:
    return counted(
        documents=haystack.documents.all(),
        subtopics=haystack.subtopics.all(),
        insights=Insight.objects.filter(subtopic__haystack=haystack),
        summaries=haystack.summaries.all(),
        verdicts=Verdict.objects.filter(summary__haystack=haystack),
    )


def counted(**rows: models.QuerySet[Any, Any]) -> list[Obstacle]:
    return [
        Obstacle(label=name.replace("_", " "), count=rows_in_use.count()) for name, rows_in_use in rows.items()
    ]


@transaction.atomic
def set_archived(*, haystack: Haystack, is_archived: bool, actor: Any, now: datetime) -> None:
    """Take a haystack out of lists and new studies, or bring it back; what runs on it goes on."""
    rows = Haystack.objects.filter(pk=haystack.pk, archived_at__isnull=is_archived)
    if rows.update(archived_at=now if is_archived else None):
        act = "archived" if is_archived else "restored"
        audit.record(actor=actor, action=f"haystack.{act}", target=haystack, now=now)
    haystack.refresh_from_db(fields=["archived_at"])


@transaction.atomic
def delete(*, haystack: Haystack, actor: Any, now: datetime) -> None:
    """Delete a haystack with its documents, insights, summaries and verdicts.

    Raises:
        InUse: work of people stands on it.
    """
    if in_the_way := obstacles(haystack):
        raise InUse(in_the_way)
    gone = {row.label: row.count for row in contents(haystack)}
    audit.record(actor=actor, action="haystack.deleted", target=haystack, now=now, key=haystack.key, **gone)
    haystack.delete()
    of_dataset = Haystack.objects.filter(dataset=haystack.dataset, is_source=True)
    if haystack.is_source and not of_dataset.exists():  # another dataset of its name begins anew
        SourceDataset.objects.filter(name=haystack.dataset).delete()
