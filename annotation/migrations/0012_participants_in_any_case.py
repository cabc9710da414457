"""Ids of a panel that differ in case only are one person from now on; two who had joined before stay two."""

from django.db import migrations


def fill_keys(apps, schema_editor):
    Participant = apps.get_model('annotation', 'Participant')
    for panel in Participant.objects.order_by().values_list('panel', flat=True).distinct():
        rows = list(Participant.objects.filter(panel=panel).order_by('pk').only('pk', 'panel_id'))
        taken = set()
        for row in sorted(rows, key=lambda row: row.panel_id != row.panel_id.lower()):
            lower = row.panel_id.lower()
            row.panel_key = row.panel_id if lower in taken else lower
            taken.add(row.panel_key)
        Participant.objects.bulk_update(rows, ['panel_key'], batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0011_outcomes_of_recruitment'),
    ]

    operations = [
        migrations.RunPython(fill_keys, migrations.RunPython.noop),
    ]
