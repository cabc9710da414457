"""All that was added since 0.2, in one step."""

import annotation.models.recruitment
import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.lookups
import uuid
from django.conf import settings
from django.db import migrations, models


def fill_keys(apps, schema_editor):
    """Ids of a panel that differ in case only are one person; two who had joined before stay two."""
    Participant = apps.get_model('annotation', 'Participant')
    for panel in Participant.objects.order_by().values_list('panel', flat=True).distinct():
        rows = list(Participant.objects.filter(panel=panel).order_by('pk').only('pk', 'panel_id'))
        taken = set()
        for row in sorted(rows, key=lambda row: row.panel_id != row.panel_id.lower()):
            lower = row.panel_id.lower()
            row.panel_key = row.panel_id if lower in taken else lower
            taken.add(row.panel_key)
        Participant.objects.bulk_update(rows, ['panel_key'], batch_size=500)


def mark(apps, schema_editor):
    """A cleared coverage label is incomplete, as a cleared answer of any other kind is."""
    apps.get_model('annotation', 'CoverageLabel').objects.filter(coverage='').update(is_complete=False)


def unmark(apps, schema_editor):
    apps.get_model('annotation', 'CoverageLabel').objects.filter(coverage='').update(is_complete=True)


class Migration(migrations.Migration):

    replaces = [
        ('annotation', name)
        for name in (
            '0002_labels_are_random',
            '0003_adjudications_can_be_blind',
            '0004_removals_reminders_and_recruitment',
            '0005_ranking_of_any_retriever',
            '0006_reasons',
            '0007_ratings',
            '0008_exposure_by_rating',
            '0009_time_of_skips',
            '0010_link_parameter_in_plain_sql',
            '0011_outcomes_of_recruitment',
            '0012_participants_in_any_case',
            '0013_participant_once_in_any_case',
            '0014_tasks_before_some_were_passed_on',
            '0015_reason_contradicted',
            '0016_revision_of_tasks',
            '0017_coverage_labels_are_answers',
            '0018_cleared_labels_are_incomplete',
        )
    ]

    dependencies = [
        ('annotation', '0001_initial'),
        ('benchmarks', '0002_since_0_2'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='study',
            name='labels_are_random',
            field=models.BooleanField(default=False, help_text='The labelled summaries of each system are a random draw: drawn here, or declared.'),
        ),
        migrations.AddField(
            model_name='coverageadjudication',
            name='was_blind',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='pointadjudication',
            name='was_blind',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='annotator',
            name='reminded_at',
            field=models.DateTimeField(blank=True, editable=False, help_text='The last mail about open tasks, of all studies.', null=True),
        ),
        migrations.AddField(
            model_name='annotator',
            name='wants_reminders',
            field=models.BooleanField(default=True),
        ),
        migrations.CreateModel(
            name='Participant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('panel', models.CharField(choices=[('prolific', 'Prolific'), ('mturk', 'Amazon Mechanical Turk'), ('other', 'another panel')], max_length=8)),
                ('panel_id', models.CharField(max_length=100)),
                ('created_at', models.DateTimeField()),
                ('annotator', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='participant', to='annotation.annotator')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='RecruitmentLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('key', models.CharField(default=annotation.models.recruitment.new_key, editable=False, max_length=40, unique=True)),
                ('panel', models.CharField(choices=[('prolific', 'Prolific'), ('mturk', 'Amazon Mechanical Turk'), ('other', 'another panel')], default='prolific', max_length=8)),
                ('id_parameter', models.CharField(help_text="In the address: it holds the participant's id.", max_length=40)),
                ('is_open', models.BooleanField(default=False)),
                ('max_places', models.PositiveIntegerField(default=20)),
                ('max_tasks', models.PositiveIntegerField(blank=True, help_text='That one person gets; empty: an even share of what is open.', null=True)),
                ('completion_code', models.CharField(max_length=60)),
                ('return_url', models.URLField(blank=True, help_text='Back to the panel; https only.', max_length=500)),
                ('created_at', models.DateTimeField()),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recruitment_links', to='annotation.study')),
            ],
            options={
                'ordering': ['study', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Recruitment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('references', models.JSONField(blank=True, default=dict)),
                ('joined_at', models.DateTimeField()),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recruitments', to='annotation.participant')),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recruitments', to='annotation.recruitmentlink')),
            ],
            options={
                'ordering': ['link', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Removal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('mode', models.CharField(choices=[('anonymous', 'made anonymous'), ('deleted', 'deleted')], max_length=9)),
                ('at', models.DateTimeField()),
                ('annotator', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='removals', to='annotation.annotator')),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='RemovedWork',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('what', models.CharField(max_length=20)),
                ('n', models.PositiveIntegerField()),
                ('removal', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='work', to='annotation.removal')),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='removed_work', to='annotation.study')),
            ],
            options={
                'ordering': ['removal', 'study', 'what'],
            },
        ),
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.UniqueConstraint(fields=('panel', 'panel_id'), name='participant_once_per_panel'),
        ),
        migrations.AddConstraint(
            model_name='recruitmentlink',
            constraint=models.CheckConstraint(condition=models.Q(('panel__in', ['prolific', 'mturk', 'other'])), name='link_panel_known'),
        ),
        migrations.AddConstraint(
            model_name='recruitmentlink',
            constraint=models.CheckConstraint(condition=models.Q(('max_places__gte', 1)), name='link_has_places'),
        ),
        migrations.AddConstraint(
            model_name='recruitmentlink',
            constraint=models.CheckConstraint(condition=models.Q(('max_tasks', None), ('max_tasks__gte', 1), _connector='OR'), name='link_gives_tasks'),
        ),
        migrations.AddConstraint(
            model_name='recruitmentlink',
            constraint=models.CheckConstraint(condition=models.Q(('return_url', ''), ('return_url__startswith', 'https://'), _connector='OR'), name='link_returns_by_https'),
        ),
        migrations.AddConstraint(
            model_name='recruitment',
            constraint=models.UniqueConstraint(fields=('link', 'participant'), name='recruitment_once_per_link'),
        ),
        migrations.AddConstraint(
            model_name='removal',
            constraint=models.CheckConstraint(condition=models.Q(('mode__in', ['anonymous', 'deleted'])), name='removal_mode_known'),
        ),
        migrations.AddConstraint(
            model_name='removedwork',
            constraint=models.UniqueConstraint(fields=('removal', 'study', 'what'), name='removedwork_once'),
        ),
        migrations.AddConstraint(
            model_name='removedwork',
            constraint=models.CheckConstraint(condition=models.Q(('n__gte', 1)), name='removedwork_not_empty'),
        ),
        migrations.AlterField(
            model_name='writingplan',
            name='retriever',
            field=models.CharField(blank=True, help_text='Its name, with its version if it was run here.', max_length=120),
        ),
        migrations.AlterField(
            model_name='writingplan',
            name='setting',
            field=models.CharField(choices=[('oracle', 'oracle within a token budget'), ('full', 'full haystack'), ('ranking', "a retriever's ranking")], default='oracle', max_length=7),
        ),
        migrations.CreateModel(
            name='UnlinkedLabel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_complete', models.BooleanField()),
                ('is_current', models.BooleanField(default=True)),
                ('is_unsure', models.BooleanField(default=False)),
                ('is_check', models.BooleanField(default=False)),
                ('op_id', models.CharField(max_length=64)),
                ('made_at', models.DateTimeField()),
                ('reasons', models.JSONField(default=dict)),
            ],
            options={
                'ordering': ['task', 'pk'],
                'abstract': False,
            },
        ),
        migrations.AddField(
            model_name='entailmentlabel',
            name='why_not',
            field=models.CharField(blank=True, choices=[('incomplete', 'incomplete'), ('general', 'too general'), ('missing', 'not mentioned'), ('contradicted', 'contradicted')], max_length=12),
        ),
        migrations.AddField(
            model_name='linkingplan',
            name='asks_unlinked',
            field=models.BooleanField(default=False, help_text='Why bullets cover no insight.'),
        ),
        migrations.AddField(
            model_name='validationplan',
            name='asks_why_not',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='unlinkedlabel',
            name='annotator',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='annotation.annotator'),
        ),
        migrations.AddField(
            model_name='unlinkedlabel',
            name='guideline',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.guideline'),
        ),
        migrations.AddField(
            model_name='unlinkedlabel',
            name='study',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='annotation.study'),
        ),
        migrations.AddField(
            model_name='unlinkedlabel',
            name='summary',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='unlinked_labels', to='benchmarks.summary'),
        ),
        migrations.AddField(
            model_name='unlinkedlabel',
            name='supersedes',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='annotation.unlinkedlabel'),
        ),
        migrations.AddField(
            model_name='unlinkedlabel',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='%(class)ss', to='annotation.labeltask'),
        ),
        migrations.AddField(
            model_name='unlinkedlabel',
            name='undoes',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='undone_by', to='annotation.unlinkedlabel'),
        ),
        migrations.AddConstraint(
            model_name='unlinkedlabel',
            constraint=models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('task',), name='unlinkedlabel_one_current'),
        ),
        migrations.AddConstraint(
            model_name='unlinkedlabel',
            constraint=models.UniqueConstraint(fields=('task', 'op_id'), name='unlinkedlabel_one_row_per_act'),
        ),
        migrations.CreateModel(
            name='RatingLabel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('is_complete', models.BooleanField()),
                ('is_current', models.BooleanField(default=True)),
                ('is_unsure', models.BooleanField(default=False)),
                ('is_check', models.BooleanField(default=False)),
                ('op_id', models.CharField(max_length=64)),
                ('made_at', models.DateTimeField()),
                ('overall', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('informativeness', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('quality', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('coherence', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('attributability', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='annotation.annotator')),
                ('guideline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.guideline')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='annotation.study')),
                ('summary', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rating_labels', to='benchmarks.summary')),
                ('supersedes', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='annotation.ratinglabel')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='%(class)ss', to='annotation.labeltask')),
                ('undoes', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='undone_by', to='annotation.ratinglabel')),
            ],
            options={
                'ordering': ['task', 'pk'],
                'abstract': False,
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('task',), name='ratinglabel_one_current'), models.UniqueConstraint(fields=('task', 'op_id'), name='ratinglabel_one_row_per_act'), models.CheckConstraint(condition=models.Q(models.Q(('overall', None), models.Q(('overall__gte', 1), ('overall__lte', 5)), _connector='OR'), models.Q(('informativeness', None), models.Q(('informativeness__gte', 1), ('informativeness__lte', 5)), _connector='OR'), models.Q(('quality', None), models.Q(('quality__gte', 1), ('quality__lte', 5)), _connector='OR'), models.Q(('coherence', None), models.Q(('coherence__gte', 1), ('coherence__lte', 5)), _connector='OR'), models.Q(('attributability', None), models.Q(('attributability__gte', 1), ('attributability__lte', 5)), _connector='OR')), name='ratinglabel_on_the_scale'), models.CheckConstraint(condition=models.Q(models.Q(('is_complete', True), ('overall__isnull', False), ('informativeness__isnull', False), ('quality__isnull', False), ('coherence__isnull', False), ('attributability__isnull', False)), models.Q(('is_complete', False), models.Q(('overall__isnull', False), ('informativeness__isnull', False), ('quality__isnull', False), ('coherence__isnull', False), ('attributability__isnull', False), _negated=True)), _connector='OR'), name='ratinglabel_complete_iff_all_rated')],
            },
        ),
        migrations.CreateModel(
            name='RatingPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('people_per_item', models.PositiveSmallIntegerField(default=2)),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='rating_plan', to='annotation.study')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('people_per_item__gte', 1)), name='ratingplan_people_positive')],
            },
        ),
        migrations.RemoveConstraint(
            model_name='exposure',
            name='exposure_reason_known',
        ),
        migrations.AlterField(
            model_name='exposure',
            name='reason',
            field=models.CharField(choices=[('page', 'opened a page that shows insights'), ('research', 'has a research role on it'), ('linking', 'linked summaries of it'), ('rating', 'rated summaries of it'), ('adjudication', 'adjudicated on it'), ('synthesis', 'reviewed its synthesis'), ('imported', 'labels were imported'), ('writing', 'has written on it')], max_length=12),
        ),
        migrations.AddConstraint(
            model_name='exposure',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['page', 'research', 'linking', 'rating', 'adjudication', 'synthesis', 'imported', 'writing'])), name='exposure_reason_known'),
        ),
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
        migrations.AddConstraint(
            model_name='recruitmentlink',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('id_parameter', ''), _negated=True), django.db.models.lookups.Exact(models.Func(django.db.models.functions.text.Substr('id_parameter', 1, 1), models.Value('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'), function='LTRIM', output_field=models.TextField()), models.Value('')), django.db.models.lookups.Exact(models.Func(models.F('id_parameter'), models.Value('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-'), function='LTRIM', output_field=models.TextField()), models.Value('')), django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('id_parameter'), 40)), name='link_parameter_is_a_name'),
        ),
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
        migrations.RunPython(fill_keys, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.UniqueConstraint(fields=('panel', 'panel_key'), name='participant_once_in_any_case'),
        ),
        migrations.AddField(
            model_name='membership',
            name='n_tasks_before',
            field=models.PositiveIntegerField(blank=True, help_text='Before some were passed on; empty once the annotator has read so.', null=True),
        ),
        migrations.AddConstraint(
            model_name='entailmentlabel',
            constraint=models.CheckConstraint(condition=models.Q(('why_not', ''), models.Q(('answer__in', ['no', 'neutral']), ('why_not__in', ['incomplete', 'general', 'missing', 'contradicted'])), _connector='OR'), name='entailmentlabel_why_after_no'),
        ),
        migrations.AddField(
            model_name='labeltask',
            name='revision',
            field=models.PositiveIntegerField(default=0, help_text='Counts answers, skips and remarks: a page with another one is out of date.'),
        ),
        migrations.RenameField(
            model_name='coveragelabel',
            old_name='is_training',
            new_name='is_check',
        ),
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
        migrations.RunPython(mark, unmark),
        migrations.AddConstraint(
            model_name='coveragelabel',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('coverage', ''), _negated=True), ('is_complete', False), _connector='OR'), name='label_cleared_is_incomplete'),
        ),
    ]
