"""All that was added since 0.2, in one step."""

import annotation.models.recruitment
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.text
import django.db.models.lookups
import uuid
from django.conf import settings
from django.db import migrations, models


def mark(apps, schema_editor):
    """A cleared coverage label is incomplete, as a cleared answer of any other kind is."""
    apps.get_model('annotation', 'CoverageLabel').objects.filter(coverage='').update(is_complete=False)


def unmark(apps, schema_editor):
    apps.get_model('annotation', 'CoverageLabel').objects.filter(coverage='').update(is_complete=True)


def find_accounts(apps, schema_editor):
    """Which account each removal was about, as the audit log has it, so that the database has the whole list."""
    Removal = apps.get_model('annotation', 'Removal')
    AuditEvent = apps.get_model('benchmarks', 'AuditEvent')
    for removal in Removal.objects.filter(account=None).select_related('annotator'):
        uid = str(removal.annotator.uid) if removal.annotator_id else ''
        events = AuditEvent.objects.filter(action='account.erased', at=removal.at, object_uid=uid)
        accounts = {event.detail.get('uid') for event in events}
        if len(accounts) == 1 and all(accounts):
            removal.account = uuid.UUID(accounts.pop())
            removal.save(update_fields=['account'])


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0001_initial'),
        ('benchmarks', '0002_release_0_3_0'),
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
            name='JudgeApproval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('dataset', models.CharField(blank=True, max_length=300)),
                ('absolute', models.CharField(choices=[('safe', 'safe'), ('not safe', 'not safe'), ('not enough data', 'not enough data')], max_length=15)),
                ('ranking', models.CharField(choices=[('safe', 'safe'), ('not safe', 'not safe'), ('not enough data', 'not enough data')], max_length=15)),
                ('scope', models.JSONField(default=dict)),
                ('figures', models.JSONField(default=dict)),
                ('data_version', models.CharField(max_length=12)),
                ('made_at', models.DateTimeField()),
                ('labels_removed_at', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'ordering': ['-made_at'],
            },
        ),
        migrations.CreateModel(
            name='PackedRows',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('table', models.CharField(choices=[('revisions', 'drafts'), ('events', 'events')], max_length=9)),
                ('n_rows', models.PositiveIntegerField()),
                ('rows', models.BinaryField()),
                ('packed_at', models.DateTimeField()),
                ('search_words_gone_at', models.DateTimeField(blank=True, editable=False, help_text='Of events: when the words that were searched for went.', null=True)),
            ],
            options={
                'verbose_name_plural': 'packed rows',
                'ordering': ['session', 'table'],
            },
        ),
        migrations.CreateModel(
            name='Participant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('panel', models.CharField(choices=[('prolific', 'Prolific'), ('mturk', 'Amazon Mechanical Turk'), ('other', 'another panel')], max_length=8)),
                ('panel_id', models.CharField(max_length=100)),
                ('panel_key', models.CharField(editable=False, max_length=100)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['pk'],
            },
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
                ('ratings', models.JSONField(default=dict)),
            ],
            options={
                'ordering': ['task', 'pk'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='RatingPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('people_per_item', models.PositiveSmallIntegerField(default=2)),
            ],
        ),
        migrations.CreateModel(
            name='Recruitment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('references', models.JSONField(blank=True, default=dict)),
                ('joined_at', models.DateTimeField()),
                ('outcome', models.CharField(choices=[('working', 'at work'), ('completed', 'completed'), ('failed_checks', 'failed the checks'), ('no_consent', 'no consent'), ('left', 'left the study'), ('freed', 'place freed')], default='working', max_length=13)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['link', 'pk'],
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
                ('id_pattern', models.CharField(blank=True, help_text='The form that every id has, as `recruitment.ids` reads it; empty: any word.', max_length=200)),
                ('is_open', models.BooleanField(default=False)),
                ('max_places', models.PositiveIntegerField(default=20)),
                ('max_tasks', models.PositiveIntegerField(blank=True, help_text='That one person gets; empty: an even share of what is open.', null=True)),
                ('max_per_address', models.PositiveIntegerField(blank=True, help_text='Who may join from one network address in 24 hours; empty: any number.', null=True)),
                ('min_done_percent', models.PositiveSmallIntegerField(default=100, help_text='Of the tasks of a person that must be done; skipped ones are not.')),
                ('min_checks_percent', models.PositiveSmallIntegerField(blank=True, help_text='Of the hidden checks that must be right; empty: they decide nothing.', null=True)),
                ('completion_code', models.CharField(max_length=60)),
                ('failed_checks_code', models.CharField(blank=True, max_length=60)),
                ('screened_out_code', models.CharField(blank=True, max_length=60)),
                ('no_consent_code', models.CharField(blank=True, max_length=60)),
                ('return_url', models.URLField(blank=True, help_text='Back to the panel; https only.', max_length=500)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['study', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='RemarkReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('comment', models.TextField(blank=True)),
                ('text', models.TextField()),
                ('made_at', models.DateTimeField()),
                ('read_at', models.DateTimeField(blank=True, help_text='When the annotator said so.', null=True)),
            ],
            options={
                'verbose_name_plural': 'remark replies',
                'ordering': ['task', 'made_at', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Removal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('account', models.UUIDField(blank=True, editable=False, help_text='The identifier of the account.', null=True)),
                ('mode', models.CharField(choices=[('anonymous', 'made anonymous'), ('deleted', 'deleted')], max_length=9)),
                ('at', models.DateTimeField()),
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
            ],
            options={
                'ordering': ['removal', 'study', 'what'],
            },
        ),
        migrations.CreateModel(
            name='Trial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text='The tries of this person in this study, from 1.')),
                ('n_asked', models.PositiveSmallIntegerField()),
                ('n_right', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('pass_share', models.DecimalField(blank=True, decimal_places=4, max_digits=5, null=True)),
                ('is_passed', models.BooleanField(blank=True, null=True)),
                ('begun_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['study', 'annotator', 'number'],
            },
        ),
        migrations.CreateModel(
            name='TrialAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.CharField(help_text='The name of the example.', max_length=40)),
                ('question', models.CharField(blank=True, help_text='Where an example asks several.', max_length=40)),
                ('answer', models.JSONField(default=dict)),
                ('is_right', models.BooleanField()),
                ('made_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['trial', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='TrialExamples',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('body', models.TextField(blank=True)),
                ('replaces', models.BooleanField(default=False, help_text='Whether the built-in examples are left out; otherwise they come after these.')),
                ('set_aside', models.TextField(blank=True, db_default='', default='', help_text='Examples that became items of the study, as set.number, by spaces; tries leave them out.')),
                ('made_at', models.DateTimeField()),
            ],
            options={
                'verbose_name_plural': 'trial examples',
                'ordering': ['study', 'pk'],
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
        migrations.AlterModelOptions(
            name='latenotes',
            options={'ordering': ['session', 'pk'], 'verbose_name_plural': 'late notes'},
        ),
        migrations.AlterModelOptions(
            name='study',
            options={'ordering': ['-created_at'], 'verbose_name_plural': 'studies'},
        ),
        migrations.RemoveConstraint(
            model_name='exposure',
            name='exposure_reason_known',
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
        migrations.AddField(
            model_name='annotator',
            name='preferences',
            field=models.JSONField(blank=True, default=dict, help_text='How this person likes to work; `annotation.studies.rhythm` reads it.'),
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
        migrations.AddField(
            model_name='coverageadjudication',
            name='was_blind',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='entailmentlabel',
            name='why_not',
            field=models.CharField(blank=True, choices=[('incomplete', 'incomplete'), ('general', 'too general'), ('missing', 'not mentioned'), ('contradicted', 'contradicted')], max_length=12),
        ),
        migrations.AddField(
            model_name='labeltask',
            name='revision',
            field=models.PositiveIntegerField(default=0, help_text='Counts answers, skips and remarks: a page with another one is out of date.'),
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
        migrations.AddField(
            model_name='linkingplan',
            name='asks_unlinked',
            field=models.BooleanField(default=False, help_text='Why bullets cover no insight.'),
        ),
        migrations.AddField(
            model_name='linkingplan',
            name='narrows_first',
            field=models.BooleanField(default=False, help_text='Tasks come in the order in which labels narrow figures soonest.'),
        ),
        migrations.AddField(
            model_name='membership',
            name='n_more_tries',
            field=models.PositiveSmallIntegerField(default=0, help_text='Tries of the trial that a researcher allowed beside those of the study.'),
        ),
        migrations.AddField(
            model_name='membership',
            name='n_tasks_before',
            field=models.PositiveIntegerField(blank=True, help_text='Before some were passed on; empty once the annotator has read so.', null=True),
        ),
        migrations.AddField(
            model_name='pointadjudication',
            name='was_blind',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='session',
            name='host_clocks',
            field=models.JSONField(blank=True, help_text='By machine when it was started by its own clock (ms): this changes when the clock is set.', null=True),
        ),
        migrations.AddField(
            model_name='study',
            name='group',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='studies', to='benchmarks.researchgroup'),
        ),
        migrations.AddField(
            model_name='study',
            name='has_trial',
            field=models.BooleanField(default=False, help_text='Label work begins with worked examples, off the clock and unpaid.'),
        ),
        migrations.AddField(
            model_name='study',
            name='labels_are_random',
            field=models.BooleanField(default=False, help_text='The labelled summaries of each system are a random draw: drawn here, or declared.'),
        ),
        migrations.AddField(
            model_name='study',
            name='trial_pass_share',
            field=models.DecimalField(blank=True, decimal_places=4, help_text='Share of right answers in the trial that somebody needs to go on; empty asks for none.', max_digits=5, null=True),
        ),
        migrations.AddField(
            model_name='study',
            name='trial_tries',
            field=models.PositiveSmallIntegerField(default=2),
        ),
        migrations.AddField(
            model_name='validationplan',
            name='asks_why_not',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='validationplan',
            name='narrows_first',
            field=models.BooleanField(default=False, help_text='Tasks come in the order in which labels narrow figures soonest.'),
        ),
        migrations.AddField(
            model_name='verificationplan',
            name='narrows_first',
            field=models.BooleanField(default=False, help_text='Tasks come in the order in which labels narrow figures soonest.'),
        ),
        migrations.AddField(
            model_name='writingplan',
            name='parallel_forms',
            field=models.BooleanField(default=False, help_text='Everybody writes on a subtopic of each of two haystacks, half in each order.'),
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
        migrations.AlterField(
            model_name='exposure',
            name='reason',
            field=models.CharField(choices=[('page', 'opened a page that shows insights'), ('research', 'has a research role on it'), ('linking', 'linked summaries of it'), ('rating', 'rated summaries of it'), ('adjudication', 'adjudicated on it'), ('synthesis', 'reviewed its synthesis'), ('imported', 'labels were imported'), ('writing', 'has written on it')], max_length=12),
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
        migrations.AddIndex(
            model_name='draftrevision',
            index=models.Index(condition=models.Q(('reject_code', 'closed')), fields=['session'], name='revision_late'),
        ),
        migrations.AddIndex(
            model_name='snapshot',
            index=models.Index(fields=['session', 'summary', 'id'], name='snapshot_by_summary'),
        ),
        migrations.RunPython(mark, unmark),
        migrations.AddConstraint(
            model_name='coveragelabel',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('coverage', ''), _negated=True), ('is_complete', False), _connector='OR'), name='label_cleared_is_incomplete'),
        ),
        migrations.AddConstraint(
            model_name='entailmentlabel',
            constraint=models.CheckConstraint(condition=models.Q(('why_not', ''), models.Q(('answer__in', ['no', 'neutral']), ('why_not__in', ['incomplete', 'general', 'missing', 'contradicted'])), _connector='OR'), name='entailmentlabel_why_after_no'),
        ),
        migrations.AddConstraint(
            model_name='exposure',
            constraint=models.CheckConstraint(condition=models.Q(('reason__in', ['page', 'research', 'linking', 'rating', 'adjudication', 'synthesis', 'imported', 'writing'])), name='exposure_reason_known'),
        ),
        migrations.AddConstraint(
            model_name='labeltask',
            constraint=models.CheckConstraint(condition=models.Q(('skipped_at', None), ('state', 'skipped'), _connector='OR'), name='labeltask_skip_time_of_skipped'),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.CheckConstraint(condition=models.Q(('trial_pass_share', None), models.Q(('trial_pass_share__gte', 0), ('trial_pass_share__lte', 1)), _connector='OR'), name='study_trial_share_of_one'),
        ),
        migrations.AddConstraint(
            model_name='study',
            constraint=models.CheckConstraint(condition=models.Q(('trial_tries__gte', 1)), name='study_trial_tries_positive'),
        ),
        migrations.AddConstraint(
            model_name='writingplan',
            constraint=models.CheckConstraint(condition=models.Q(('parallel_forms', False), ('allow_second_on_haystack', False), _connector='OR'), name='plan_forms_once_per_haystack'),
        ),
        migrations.AddField(
            model_name='judgeapproval',
            name='judge',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='approvals', to='benchmarks.judge'),
        ),
        migrations.AddField(
            model_name='judgeapproval',
            name='made_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='judgeapproval',
            name='study',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='approvals', to='annotation.study'),
        ),
        migrations.AddField(
            model_name='packedrows',
            name='session',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='packed', to='annotation.session'),
        ),
        migrations.AddField(
            model_name='participant',
            name='annotator',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='participant', to='annotation.annotator'),
        ),
        migrations.AddField(
            model_name='ratinglabel',
            name='annotator',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='annotation.annotator'),
        ),
        migrations.AddField(
            model_name='ratinglabel',
            name='guideline',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.guideline'),
        ),
        migrations.AddField(
            model_name='ratinglabel',
            name='study',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='annotation.study'),
        ),
        migrations.AddField(
            model_name='ratinglabel',
            name='summary',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rating_labels', to='benchmarks.summary'),
        ),
        migrations.AddField(
            model_name='ratinglabel',
            name='supersedes',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='annotation.ratinglabel'),
        ),
        migrations.AddField(
            model_name='ratinglabel',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.RESTRICT, related_name='%(class)ss', to='annotation.labeltask'),
        ),
        migrations.AddField(
            model_name='ratinglabel',
            name='undoes',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='undone_by', to='annotation.ratinglabel'),
        ),
        migrations.AddField(
            model_name='ratingplan',
            name='study',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='rating_plan', to='annotation.study'),
        ),
        migrations.AddField(
            model_name='recruitment',
            name='participant',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recruitments', to='annotation.participant'),
        ),
        migrations.AddField(
            model_name='recruitmentlink',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='recruitmentlink',
            name='study',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recruitment_links', to='annotation.study'),
        ),
        migrations.AddField(
            model_name='recruitment',
            name='link',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recruitments', to='annotation.recruitmentlink'),
        ),
        migrations.AddField(
            model_name='joinedfrom',
            name='link',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='joined_from', to='annotation.recruitmentlink'),
        ),
        migrations.AddField(
            model_name='allowedid',
            name='link',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='allowed_ids', to='annotation.recruitmentlink'),
        ),
        migrations.AddField(
            model_name='remarkreply',
            name='by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='remarkreply',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replies', to='annotation.labeltask'),
        ),
        migrations.AddField(
            model_name='removal',
            name='annotator',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='removals', to='annotation.annotator'),
        ),
        migrations.AddField(
            model_name='removal',
            name='by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='removedwork',
            name='removal',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='work', to='annotation.removal'),
        ),
        migrations.AddField(
            model_name='removedwork',
            name='study',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='removed_work', to='annotation.study'),
        ),
        migrations.AddField(
            model_name='trial',
            name='annotator',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='trials', to='annotation.annotator'),
        ),
        migrations.AddField(
            model_name='trial',
            name='study',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trials', to='annotation.study'),
        ),
        migrations.AddField(
            model_name='trialanswer',
            name='trial',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotation.trial'),
        ),
        migrations.AddField(
            model_name='trialexamples',
            name='made_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='trialexamples',
            name='study',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trial_examples', to='annotation.study'),
        ),
        migrations.AddField(
            model_name='trial',
            name='examples',
            field=models.ForeignKey(blank=True, help_text="The study's own examples then; none where it had none.", null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='trials', to='annotation.trialexamples'),
        ),
        migrations.AddField(
            model_name='turnedaway',
            name='link',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turned_away', to='annotation.recruitmentlink'),
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
            model_name='judgeapproval',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('dataset', ''), ('study__isnull', False)), models.Q(('study__isnull', True), models.Q(('dataset', ''), _negated=True)), _connector='OR'), name='judgeapproval_of_a_study_or_a_dataset'),
        ),
        migrations.AddConstraint(
            model_name='judgeapproval',
            constraint=models.CheckConstraint(condition=models.Q(('absolute__in', ['safe', 'not safe', 'not enough data']), ('ranking__in', ['safe', 'not safe', 'not enough data'])), name='judgeapproval_verdicts_known'),
        ),
        migrations.AddConstraint(
            model_name='packedrows',
            constraint=models.UniqueConstraint(fields=('session', 'table'), name='packedrows_once'),
        ),
        migrations.AddConstraint(
            model_name='packedrows',
            constraint=models.CheckConstraint(condition=models.Q(('table__in', ['revisions', 'events'])), name='packedrows_table_known'),
        ),
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.UniqueConstraint(fields=('panel', 'panel_id'), name='participant_once_per_panel'),
        ),
        migrations.AddConstraint(
            model_name='participant',
            constraint=models.UniqueConstraint(fields=('panel', 'panel_key'), name='participant_once_in_any_case'),
        ),
        migrations.AddConstraint(
            model_name='ratinglabel',
            constraint=models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('task',), name='ratinglabel_one_current'),
        ),
        migrations.AddConstraint(
            model_name='ratinglabel',
            constraint=models.UniqueConstraint(fields=('task', 'op_id'), name='ratinglabel_one_row_per_act'),
        ),
        migrations.AddConstraint(
            model_name='ratinglabel',
            constraint=models.CheckConstraint(condition=models.Q(django.db.models.lookups.GreaterThan(django.db.models.functions.text.StrIndex(django.db.models.functions.comparison.Cast('ratings', models.TextField()), models.Value(':')), 0), models.Q(django.db.models.lookups.GreaterThan(django.db.models.functions.text.StrIndex(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.comparison.Cast('ratings', models.TextField()), models.Value('}'), models.Value(',')), models.Value(': null,'), models.Value(',')), models.Value(': 1,'), models.Value(',')), models.Value(': 2,'), models.Value(',')), models.Value(': 3,'), models.Value(',')), models.Value(': 4,'), models.Value(',')), models.Value(': 5,'), models.Value(',')), models.Value(':')), 0), _negated=True)), name='ratinglabel_on_the_scale'),
        ),
        migrations.AddConstraint(
            model_name='ratinglabel',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('is_complete', False), django.db.models.lookups.GreaterThan(django.db.models.functions.text.StrIndex(django.db.models.functions.comparison.Cast('ratings', models.TextField()), models.Value(': null')), 0)), models.Q(('is_complete', True), models.Q(django.db.models.lookups.GreaterThan(django.db.models.functions.text.StrIndex(django.db.models.functions.comparison.Cast('ratings', models.TextField()), models.Value(': null')), 0), _negated=True)), _connector='OR'), name='ratinglabel_complete_iff_all_rated'),
        ),
        migrations.AddConstraint(
            model_name='ratingplan',
            constraint=models.CheckConstraint(condition=models.Q(('people_per_item__gte', 1)), name='ratingplan_people_positive'),
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
            model_name='recruitmentlink',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('id_parameter', ''), _negated=True), django.db.models.lookups.Exact(models.Func(django.db.models.functions.text.Substr('id_parameter', 1, 1), models.Value('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'), function='LTRIM', output_field=models.TextField()), models.Value('')), django.db.models.lookups.Exact(models.Func(models.F('id_parameter'), models.Value('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-'), function='LTRIM', output_field=models.TextField()), models.Value('')), django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('id_parameter'), 40)), name='link_parameter_is_a_name'),
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
        migrations.AddConstraint(
            model_name='recruitment',
            constraint=models.UniqueConstraint(fields=('link', 'participant'), name='recruitment_once_per_link'),
        ),
        migrations.AddConstraint(
            model_name='recruitment',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__in', ['working', 'completed', 'failed_checks', 'no_consent', 'left', 'freed'])), name='recruitment_outcome_known'),
        ),
        migrations.AddConstraint(
            model_name='recruitment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('outcome', 'working')), models.Q(models.Q(('outcome', 'working'), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='recruitment_ended_by_outcome'),
        ),
        migrations.AddIndex(
            model_name='joinedfrom',
            index=models.Index(fields=['link', 'digest'], name='joinedfrom_by_digest'),
        ),
        migrations.AddConstraint(
            model_name='allowedid',
            constraint=models.UniqueConstraint(fields=('link', 'panel_key'), name='allowedid_once_per_link'),
        ),
        migrations.AddConstraint(
            model_name='remarkreply',
            constraint=models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='remarkreply_says_something'),
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
        migrations.AddConstraint(
            model_name='trialanswer',
            constraint=models.UniqueConstraint(fields=('trial', 'item', 'question'), name='trialanswer_once'),
        ),
        migrations.AddConstraint(
            model_name='trial',
            constraint=models.UniqueConstraint(fields=('study', 'annotator', 'number'), name='trial_number_unique'),
        ),
        migrations.AddConstraint(
            model_name='trial',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='trial_number_from_1'),
        ),
        migrations.AddConstraint(
            model_name='trial',
            constraint=models.CheckConstraint(condition=models.Q(('n_right', None), ('n_right__lte', models.F('n_asked')), _connector='OR'), name='trial_right_of_asked'),
        ),
        migrations.AddConstraint(
            model_name='trial',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('is_passed', None), ('n_right', None)), models.Q(('ended_at__isnull', False), ('is_passed__isnull', False), ('n_right__isnull', False)), _connector='OR'), name='trial_ended_is_judged'),
        ),
        migrations.AddConstraint(
            model_name='turnedaway',
            constraint=models.UniqueConstraint(fields=('link', 'panel_key'), name='turnedaway_once_per_link'),
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
            name='Publication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('address', models.CharField(max_length=60, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9][a-z0-9-]{2,}\\Z', 'Three or more small letters, digits or hyphens.')])),
                ('title', models.CharField(max_length=200)),
                ('query', models.CharField(blank=True, max_length=2000)),
                ('shows_names', models.BooleanField(default=False)),
                ('is_indexed', models.BooleanField(default=False)),
                ('follows', models.BooleanField(default=True)),
                ('fixed', models.TextField(blank=True)),
                ('fixed_chart', models.TextField(blank=True)),
                ('data_version', models.CharField(blank=True, max_length=12)),
                ('made_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('made_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='publications', to='annotation.study')),
                ('shows_card', models.BooleanField(db_default=False, default=False)),
                ('shows_pay', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'ordering': ['-made_at'],
            },
        ),
        migrations.AddField(
            model_name='session',
            name='marked_passages',
            field=models.JSONField(blank=True, default=list, help_text="The annotator's own, never scored: document, start, end, colour."),
        ),
        migrations.AddField(
            model_name='writingplan',
            name='list_hits',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='session',
            name='as_typed_at',
            field=models.DateTimeField(blank=True, help_text='When texts as typed were found; empty: not yet, or a text came since.', null=True),
        ),
        migrations.CreateModel(
            name='TypedText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rev', models.PositiveIntegerField(blank=True, null=True)),
                ('typed_at', models.DateTimeField()),
                ('received_at', models.DateTimeField()),
                ('text', models.TextField(blank=True)),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='typed_texts', to='annotation.session')),
                ('snapshot', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='as_typed', to='annotation.snapshot')),
                ('summary', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='benchmarks.summary')),
            ],
            options={
                'ordering': ['session', 'snapshot__mark_ms'],
                'indexes': [models.Index(condition=models.Q(('summary', None)), fields=['id'], name='typed_text_not_yet_scored')],
            },
        ),
        migrations.AddField(
            model_name='study',
            name='card_notes',
            field=models.JSONField(blank=True, db_default=models.Value({}, output_field=models.JSONField()), default=dict, help_text='By question of the report card, what researchers answer themselves.'),
        ),
        migrations.CreateModel(
            name='ExternalVerdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.CharField(blank=True, max_length=40)),
                ('item', models.CharField(max_length=300)),
                ('label', models.CharField(max_length=120)),
                ('imported_at', models.DateTimeField()),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='external_verdicts', to='benchmarks.judge')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='external_verdicts', to='annotation.study')),
            ],
            options={
                'ordering': ['study', 'item', 'judge'],
                'constraints': [models.UniqueConstraint(fields=('study', 'judge', 'task', 'item'), name='external_verdict_once_per_item')],
            },
        ),
        migrations.RunPython(find_accounts, migrations.RunPython.noop),
    ]
