"""Fill in which account each removal was about, as the audit log has it, so that the database has the whole list."""

from uuid import UUID

from django.db import migrations


def fill(apps, schema_editor):
    Removal = apps.get_model("annotation", "Removal")
    AuditEvent = apps.get_model("benchmarks", "AuditEvent")
    for removal in Removal.objects.filter(account=None).select_related("annotator"):
        uid = str(removal.annotator.uid) if removal.annotator_id else ""
        events = AuditEvent.objects.filter(action="account.erased", at=removal.at, object_uid=uid)
        accounts = {event.detail.get("uid") for event in events}
        if len(accounts) == 1 and all(accounts):
            removal.account = UUID(accounts.pop())
            removal.save(update_fields=["account"])


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0010_removed_accounts"),
        ("benchmarks", "0010_synthesis_questions"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
