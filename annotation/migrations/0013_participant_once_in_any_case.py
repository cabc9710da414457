"""The database keeps the rule that ids of a panel which differ in case only are one person."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0012_participants_in_any_case'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.UniqueConstraint(fields=('panel', 'panel_key'), name='participant_once_in_any_case'),
        ),
    ]
