"""Coverage labels get the fields of every other answer; those of training are marked as those of checks are."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0016_revision_of_tasks'),
    ]

    operations = [
        migrations.RenameField(model_name='coveragelabel', old_name='is_training', new_name='is_check'),
        migrations.AlterField(
            model_name='coveragelabel',
            name='is_check',
            field=models.BooleanField(default=False),
        ),
        migrations.AlterField(
            model_name='coveragelabel',
            name='annotator',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='annotation.annotator'),
        ),
        migrations.AlterField(
            model_name='coveragelabel',
            name='is_complete',
            field=models.BooleanField(),
        ),
        migrations.AlterField(
            model_name='coveragelabel',
            name='op_id',
            field=models.CharField(max_length=64),
        ),
        migrations.AlterField(
            model_name='coveragelabel',
            name='study',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='annotation.study'),
        ),
        migrations.AlterField(
            model_name='coveragelabel',
            name='task',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='coveragelabels', to='annotation.labeltask'),
        ),
    ]
