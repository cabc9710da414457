"""Whose earlier rows are, as far as the audit log says it of one person; the others are the admins'."""

from django.db import migrations

MADE = {"corpus.imported": "Haystack", "judge.saved": "Judge", "summarizer.saved": "Judge"}
IN_DATASETS = {"questions.imported": ("Question", {}), "sources.imported": ("Haystack", {"is_source": True})}


def find_owners(apps, schema_editor):
    """The first to import a haystack or save a judge made it; the last to set a price set it."""
    events = apps.get_model("benchmarks", "AuditEvent").objects.order_by("at", "pk")
    makers = {}
    for action, uid, actor in events.filter(action__in=MADE).values_list("action", "object_uid", "actor"):
        makers.setdefault((MADE[action], uid), actor)
    for (name, uid), actor in makers.items():
        if actor is not None and uid:
            apps.get_model("benchmarks", name).objects.filter(uid=uid, created_by=None).update(created_by=actor)
    prices = dict(events.filter(action="price.set").values_list("object_uid", "actor"))
    for pk, actor in prices.items():
        if actor is not None:
            apps.get_model("benchmarks", "ModelPrice").objects.filter(pk=pk).update(created_by=actor)
    for action, (name, only) in IN_DATASETS.items():
        actors = {}
        for detail, actor in events.filter(action=action).values_list("detail", "actor"):
            actors.setdefault(detail.get("dataset"), set()).add(actor)
        for dataset, found in actors.items():
            if len(found) == 1 and None not in found:
                rows = apps.get_model("benchmarks", name).objects.filter(dataset=dataset, created_by=None, **only)
                rows.update(created_by=found.pop())


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0015_owners")]
    operations = [migrations.RunPython(find_owners, migrations.RunPython.noop)]
