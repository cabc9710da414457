"""Skips get the time of the act, and the id of the undo that took one back: then undo knows what came last."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0008_exposure_by_rating'),
    ]

    operations = [
        migrations.AddField(
            model_name='labeltask',
            name='skipped_at',
            field=models.DateTimeField(blank=True, help_text='While it is skipped; unknown of skips before this was stored.', null=True),
        ),
        migrations.AddField(
            model_name='labeltask',
            name='unskip_op_id',
            field=models.CharField(blank=True, help_text='Of the undo that last took a skip back.', max_length=64),
        ),
        migrations.AddConstraint(
            model_name='labeltask',
            constraint=models.CheckConstraint(condition=models.Q(('skipped_at', None), ('state', 'skipped'), _connector='OR'), name='labeltask_skip_time_of_skipped'),
        ),
    ]
