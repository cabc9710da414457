"""Which aspects there are is a table of the program."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks', '0013_plural_names'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='summaryrating',
            name='summaryrating_aspect_known',
        ),
        migrations.AlterField(
            model_name='summaryrating',
            name='aspect',
            field=models.CharField(max_length=15),
        ),
        migrations.AddConstraint(
            model_name='summaryrating',
            constraint=models.CheckConstraint(condition=models.Q(('aspect', ''), _negated=True), name='summaryrating_aspect_named'),
        ),
    ]
