"""Recruitment links get codes for every outcome and rules about ids; who came by them gets an outcome.

Links made before ask all tasks to be done, and take any id from any address, as they did.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0010_link_parameter_in_plain_sql'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AllowedId',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('panel_key', models.CharField(max_length=100)),
            ],
            options={
                'ordering': ['link', 'panel_key'],
            },
        ),
        migrations.CreateModel(
            name='JoinedFrom',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64)),
                ('at', models.DateTimeField(db_index=True)),
            ],
            options={
                'verbose_name_plural': 'joined from',
                'ordering': ['link', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='TurnedAway',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('panel_id', models.CharField(max_length=100)),
                ('panel_key', models.CharField(editable=False, max_length=100)),
                ('references', models.JSONField(blank=True, default=dict)),
                ('at', models.DateTimeField()),
            ],
            options={
                'verbose_name_plural': 'turned away',
                'ordering': ['link', 'pk'],
            },
        ),
        migrations.AddField(
            model_name='participant',
            name='panel_key',
            field=models.CharField(default='', editable=False, max_length=100),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='recruitment',
            name='ended_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='recruitment',
            name='outcome',
            field=models.CharField(choices=[('working', 'at work'), ('completed', 'completed'), ('failed_checks', 'failed the checks'), ('no_consent', 'no consent'), ('left', 'left the study'), ('freed', 'place freed')], default='working', max_length=13),
        ),
        migrations.AddField(
            model_name='recruitmentlink',
            name='failed_checks_code',
            field=models.CharField(blank=True, max_length=60),
        ),
        migrations.AddField(
            model_name='recruitmentlink',
            name='id_pattern',
            field=models.CharField(blank=True, help_text='The form that every id has, as `recruitment.ids` reads it; empty: any word.', max_length=200),
        ),
        migrations.AddField(
            model_name='recruitmentlink',
            name='max_per_address',
            field=models.PositiveIntegerField(blank=True, help_text='Who may join from one network address in 24 hours; empty: any number.', null=True),
        ),
        migrations.AddField(
            model_name='recruitmentlink',
            name='min_checks_percent',
            field=models.PositiveSmallIntegerField(blank=True, help_text='Of the hidden checks that must be right; empty: they decide nothing.', null=True),
        ),
        migrations.AddField(
            model_name='recruitmentlink',
            name='min_done_percent',
            field=models.PositiveSmallIntegerField(default=100, help_text='Of the tasks of a person that must be done; skipped ones are not.'),
        ),
        migrations.AddField(
            model_name='recruitmentlink',
            name='no_consent_code',
            field=models.CharField(blank=True, max_length=60),
        ),
        migrations.AddField(
            model_name='recruitmentlink',
            name='screened_out_code',
            field=models.CharField(blank=True, max_length=60),
        ),
        migrations.AddConstraint(
            model_name='recruitment',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__in', ['working', 'completed', 'failed_checks', 'no_consent', 'left', 'freed'])), name='recruitment_outcome_known'),
        ),
        migrations.AddConstraint(
            model_name='recruitment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('outcome', 'working')), models.Q(models.Q(('outcome', 'working'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='recruitment_ended_by_outcome'),
        ),
        migrations.AddConstraint(
            model_name='recruitmentlink',
            constraint=models.CheckConstraint(condition=models.Q(('max_per_address', None), ('max_per_address__gte', 1), _connector='OR'), name='link_lets_addresses_join'),
        ),
        migrations.AddConstraint(
            model_name='recruitmentlink',
            constraint=models.CheckConstraint(condition=models.Q(('min_done_percent__gte', 1), ('min_done_percent__lte', 100)), name='link_share_of_tasks'),
        ),
        migrations.AddConstraint(
            model_name='recruitmentlink',
            constraint=models.CheckConstraint(condition=models.Q(('min_checks_percent', None), models.Q(('min_checks_percent__gte', 1), ('min_checks_percent__lte', 100)), _connector='OR'), name='link_share_of_checks'),
        ),
        migrations.AddField(
            model_name='allowedid',
            name='link',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='allowed_ids', to='annotation.recruitmentlink'),
        ),
        migrations.AddField(
            model_name='joinedfrom',
            name='link',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='joined_from', to='annotation.recruitmentlink'),
        ),
        migrations.AddField(
            model_name='turnedaway',
            name='link',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turned_away', to='annotation.recruitmentlink'),
        ),
        migrations.AddConstraint(
            model_name='allowedid',
            constraint=models.UniqueConstraint(fields=('link', 'panel_key'), name='allowedid_once_per_link'),
        ),
        migrations.AddIndex(
            model_name='joinedfrom',
            index=models.Index(fields=['link', 'digest'], name='joinedfrom_by_digest'),
        ),
        migrations.AddConstraint(
            model_name='turnedaway',
            constraint=models.UniqueConstraint(fields=('link', 'panel_key'), name='turnedaway_once_per_link'),
        ),
    ]
