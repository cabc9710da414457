"""The tables of syntheses."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('benchmarks', '0002_release_0_3_0'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Synthesis',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.CharField(choices=[('news', 'articles on a topic'), ('conversation', 'conversations of a scenario'), ('documents', "documents of one's own"), ('questions', 'questions with key points')], max_length=12)),
                ('topic', models.CharField(max_length=300)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('seed', models.PositiveIntegerField(default=1)),
                ('dataset', models.SlugField(blank=True, help_text='The question set that it became.', max_length=80)),
                ('created_at', models.DateTimeField()),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='syntheses', to='benchmarks.researchgroup')),
                ('haystack', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='synthesis', to='benchmarks.haystack')),
            ],
            options={
                'verbose_name_plural': 'syntheses',
                'db_table': 'benchmarks_synthesis',
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='SynthesisPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.CharField(choices=[('topic', 'topic'), ('subtopic', 'subtopic'), ('insight', 'insight'), ('document', 'document'), ('query', 'query'), ('seed', 'seed question'), ('cell', 'cell'), ('question', 'question'), ('upload', 'uploaded document'), ('point', 'key point')], max_length=8)),
                ('number', models.PositiveIntegerField()),
                ('generation', models.PositiveSmallIntegerField(default=0)),
                ('state', models.CharField(choices=[('proposed', 'proposed'), ('clear', 'clear'), ('flagged', 'flagged'), ('accepted', 'accepted'), ('edited', 'edited'), ('rejected', 'rejected'), ('regenerated', 'regenerated'), ('stale', 'stale')], default='proposed', max_length=11)),
                ('title', models.CharField(blank=True, max_length=300)),
                ('text', models.TextField(blank=True)),
                ('data', models.JSONField(blank=True, default=dict)),
                ('note', models.TextField(blank=True, help_text='What somebody asked for when it was made again.')),
                ('created_at', models.DateTimeField()),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='children', to='synthesis.synthesispart')),
                ('replaces', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='replaced_by', to='synthesis.synthesispart')),
                ('synthesis', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='synthesis.synthesis')),
                ('uses', models.ManyToManyField(related_name='used_by', to='synthesis.synthesispart')),
            ],
            options={
                'db_table': 'benchmarks_synthesispart',
                'ordering': ['synthesis', 'kind', 'number', 'generation'],
            },
        ),
        migrations.CreateModel(
            name='SynthesisDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('action', models.CharField(choices=[('accept', 'accepted'), ('edit', 'edited'), ('reject', 'rejected'), ('regenerate', 'asked for again'), ('merge', 'merged'), ('verdict', 'judged'), ('undo', 'undone')], max_length=10)),
                ('reason', models.CharField(blank=True, max_length=40)),
                ('note', models.TextField(blank=True)),
                ('before', models.JSONField(default=dict)),
                ('is_read', models.BooleanField(default=True, help_text='False where many were accepted at once.')),
                ('is_blind', models.BooleanField(default=False)),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('undoes', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='undone_by', to='synthesis.synthesisdecision')),
                ('insight', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='synthesis.synthesispart')),
                ('part', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='synthesis.synthesispart')),
            ],
            options={
                'db_table': 'benchmarks_synthesisdecision',
                'ordering': ['part', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='SynthesisReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ask', models.CharField(max_length=80)),
                ('prompt', models.CharField(help_text='Which wording it was asked in.', max_length=40)),
                ('prompt_sha256', models.CharField(max_length=64)),
                ('request', models.TextField(blank=True)),
                ('value', models.JSONField(blank=True, null=True)),
                ('problem', models.TextField(blank=True)),
                ('created_at', models.DateTimeField()),
                ('call', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='benchmarks.judgecall')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.judge', verbose_name='model')),
                ('part', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replies', to='synthesis.synthesispart')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='benchmarks.judgerun')),
            ],
            options={
                'verbose_name_plural': 'synthesis replies',
                'db_table': 'benchmarks_synthesisreply',
                'ordering': ['part', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='SynthesisStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('number', models.PositiveSmallIntegerField()),
                ('name', models.CharField(max_length=20)),
                ('state', models.CharField(choices=[('planned', 'planned'), ('estimated', 'estimated'), ('running', 'running'), ('review', 'awaiting review'), ('closed', 'closed'), ('stale', 'stale')], default='planned', max_length=9)),
                ('estimate', models.JSONField(blank=True, default=dict)),
                ('counts', models.JSONField(blank=True, default=dict)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('closed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.judge', verbose_name='model')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='benchmarks.judgerun')),
                ('synthesis', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='synthesis.synthesis')),
            ],
            options={
                'db_table': 'benchmarks_synthesisstep',
                'ordering': ['synthesis', 'number'],
            },
        ),
        migrations.AddField(
            model_name='synthesispart',
            name='step',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='synthesis.synthesisstep'),
        ),
        migrations.AddConstraint(
            model_name='synthesis',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['news', 'conversation', 'documents', 'questions'])), name='synthesis_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='synthesisdecision',
            constraint=models.CheckConstraint(condition=models.Q(('action__in', ['accept', 'edit', 'reject', 'regenerate', 'merge', 'verdict', 'undo'])), name='synthesisdecision_action_known'),
        ),
        migrations.AddConstraint(
            model_name='synthesisdecision',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('action', 'undo'), ('undoes__isnull', False)), models.Q(models.Q(('action', 'undo'), _negated=True), ('undoes', None)), _connector='OR'), name='synthesisdecision_undoes_another'),
        ),
        migrations.AddConstraint(
            model_name='synthesisdecision',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('action', 'verdict'), ('insight__isnull', False)), models.Q(models.Q(('action', 'verdict'), _negated=True), ('insight', None)), _connector='OR'), name='synthesisdecision_verdict_on_insight'),
        ),
        migrations.AddConstraint(
            model_name='synthesisreply',
            constraint=models.UniqueConstraint(fields=('part', 'ask'), name='synthesisreply_ask_unique'),
        ),
        migrations.AddConstraint(
            model_name='synthesisstep',
            constraint=models.UniqueConstraint(fields=('synthesis', 'number'), name='synthesisstep_number_unique'),
        ),
        migrations.AddConstraint(
            model_name='synthesisstep',
            constraint=models.UniqueConstraint(fields=('synthesis', 'name'), name='synthesisstep_name_unique'),
        ),
        migrations.AddConstraint(
            model_name='synthesisstep',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['planned', 'estimated', 'running', 'review', 'closed', 'stale'])), name='synthesisstep_state_known'),
        ),
        migrations.AddConstraint(
            model_name='synthesispart',
            constraint=models.UniqueConstraint(fields=('synthesis', 'kind', 'number', 'generation'), name='synthesispart_generation_unique'),
        ),
        migrations.AddConstraint(
            model_name='synthesispart',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['topic', 'subtopic', 'insight', 'document', 'query', 'seed', 'cell', 'question', 'upload', 'point'])), name='synthesispart_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='synthesispart',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['proposed', 'clear', 'flagged', 'accepted', 'edited', 'rejected', 'regenerated', 'stale'])), name='synthesispart_state_known'),
        ),
        migrations.AddConstraint(
            model_name='synthesispart',
            constraint=models.CheckConstraint(condition=models.Q(('parent', None), models.Q(('parent', models.F('pk')), _negated=True), _connector='OR'), name='synthesispart_not_its_own_parent'),
        ),
    ]
