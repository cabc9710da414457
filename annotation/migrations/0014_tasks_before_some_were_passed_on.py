"""Members get the number of tasks that they had before some were passed on, until they have read so."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0013_participant_once_in_any_case'),
    ]

    operations = [
        migrations.AddField(
            model_name='membership',
            name='n_tasks_before',
            field=models.PositiveIntegerField(blank=True, help_text='Before some were passed on; empty once the annotator has read so.', null=True),
        ),
    ]
