"""A cleared coverage label is incomplete, as a cleared answer of any other kind is."""

from django.db import migrations, models


def mark(apps, schema_editor):
    apps.get_model('annotation', 'CoverageLabel').objects.filter(coverage='').update(is_complete=False)


def unmark(apps, schema_editor):
    apps.get_model('annotation', 'CoverageLabel').objects.filter(coverage='').update(is_complete=True)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0017_coverage_labels_are_answers'),
    ]

    operations = [
        migrations.RunPython(mark, unmark),
        migrations.AddConstraint(
            model_name='coveragelabel',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('coverage', ''), _negated=True), ('is_complete', False), _connector='OR'), name='label_cleared_is_incomplete'),
        ),
    ]
