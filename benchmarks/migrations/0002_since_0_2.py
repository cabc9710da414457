"""All that was added since 0.2, in one step."""

import datetime
import django.db.models.deletion
import django.db.models.expressions
import uuid
from django.conf import settings
from django.db import migrations, models


MADE = {"corpus.imported": "Haystack", "judge.saved": "Judge", "summarizer.saved": "Judge"}
IN_DATASETS = {"questions.imported": ("Question", {}), "sources.imported": ("Haystack", {"is_source": True})}


def find_owners(apps, schema_editor):
    """Whose earlier rows are, as far as the audit log says it of one person; the others are the admins'.

    The first to import a haystack or save a judge made it; the last to set a price set it.
    """
    events = apps.get_model("benchmarks", "AuditEvent").objects.order_by("at", "pk")
    makers = {}
    for action, uid, actor in events.filter(action__in=MADE).values_list("action", "object_uid", "actor"):
        makers.setdefault((MADE[action], uid), actor)
    for (name, uid), actor in makers.items():
        if actor is not None and uid:
            apps.get_model("benchmarks", name).objects.filter(uid=uid, created_by=None).update(created_by=actor)
    prices = dict(events.filter(action="price.set").values_list("object_uid", "actor"))
    for pk, actor in prices.items():
        if actor is not None:
            apps.get_model("benchmarks", "ModelPrice").objects.filter(pk=pk).update(created_by=actor)
    for action, (name, only) in IN_DATASETS.items():
        actors = {}
        for detail, actor in events.filter(action=action).values_list("detail", "actor"):
            actors.setdefault(detail.get("dataset"), set()).add(actor)
        for dataset, found in actors.items():
            if len(found) == 1 and None not in found:
                rows = apps.get_model("benchmarks", name).objects.filter(dataset=dataset, created_by=None, **only)
                rows.update(created_by=found.pop())


class Migration(migrations.Migration):

    replaces = [
        ('benchmarks', name)
        for name in (
            '0002_run_scope_and_published_cost',
            '0003_key_point_verdicts',
            '0004_annotated_summaries',
            '0005_expected_coverage_and_juries',
            '0006_retrievers',
            '0007_batch_files',
            '0008_where_summaries_take_content_from',
            '0009_summarizers',
            '0010_sources',
            '0011_limits_of_retrieval',
            '0012_responses_of_summarizers',
            '0013_experiments_of_position',
            '0014_ratings',
            '0015_owners',
            '0016_owners_from_the_audit_log',
            '0017_results',
        )
    ]

    dependencies = [
        ('benchmarks', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='judge',
            name='published_cost',
            field=models.DecimalField(blank=True, decimal_places=4, help_text='In US dollars, as whoever published imported verdicts gives it.', max_digits=12, null=True),
        ),
        migrations.AddField(
            model_name='judgerun',
            name='scope',
            field=models.JSONField(blank=True, default=dict, help_text='What it is about, in names; see benchmarks.engine.scopes.'),
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.CheckConstraint(condition=models.Q(('published_cost', None), models.Q(('kind', 'imported'), ('published_cost__gte', 0)), _connector='OR'), name='judge_published_cost_of_imported'),
        ),
        migrations.CreateModel(
            name='AutodsScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('repeat', models.PositiveSmallIntegerField(default=0)),
                ('value', models.FloatField(blank=True, null=True)),
                ('low', models.FloatField(blank=True, null=True)),
                ('high', models.FloatField(blank=True, null=True)),
                ('input_sha256', models.CharField(blank=True, help_text='Hash of what was asked.', max_length=64)),
                ('created_at', models.DateTimeField()),
                ('call', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='autods_scores', to='benchmarks.judgecall')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='autods_scores', to='benchmarks.judge')),
                ('key_point', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='autods_scores', to='benchmarks.keypoint')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='autods_scores', to='benchmarks.judgerun')),
            ],
            options={
                'ordering': ['key_point', 'judge', 'repeat'],
                'constraints': [models.UniqueConstraint(fields=('judge', 'key_point', 'repeat'), name='autodsscore_unique'), models.CheckConstraint(condition=models.Q(('value', None), models.Q(('value__gte', 0), ('value__lte', 1)), _connector='OR'), name='autodsscore_is_share')],
            },
        ),
        migrations.CreateModel(
            name='KeyPointVerdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('judgment', models.CharField(choices=[('grounded', 'Can it be found in the documents?'), ('key_point', 'Is it a key point?')], max_length=9)),
                ('repeat', models.PositiveSmallIntegerField(default=0)),
                ('answer', models.CharField(blank=True, help_text='Empty: invalid answer.', max_length=8)),
                ('is_valid', models.BooleanField(default=True)),
                ('input_sha256', models.CharField(blank=True, help_text='Hash of what was judged.', max_length=64)),
                ('raw', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField()),
                ('call', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='key_point_verdicts', to='benchmarks.judgecall')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='key_point_verdicts', to='benchmarks.judge')),
                ('key_point', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgments', to='benchmarks.keypoint')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='key_point_verdicts', to='benchmarks.judgerun')),
            ],
            options={
                'ordering': ['key_point', 'judge', 'judgment'],
                'constraints': [models.UniqueConstraint(fields=('judge', 'key_point', 'judgment', 'repeat'), name='keypointverdict_unique'), models.CheckConstraint(condition=models.Q(models.Q(('answer__in', ['yes', 'no']), ('judgment', 'grounded')), models.Q(('answer__in', ['agree', 'neutral', 'disagree']), ('judgment', 'key_point')), models.Q(('answer', ''), ('is_valid', False), ('judgment__in', ['grounded', 'key_point'])), _connector='OR'), name='keypointverdict_answer_known')],
            },
        ),
        migrations.RemoveConstraint(
            model_name='summary',
            name='summary_origin_known',
        ),
        migrations.RemoveConstraint(
            model_name='summary',
            name='summary_one_per_system',
        ),
        migrations.AlterField(
            model_name='summary',
            name='origin',
            field=models.CharField(choices=[('imported', 'imported'), ('session', 'written in a session'), ('generated', 'generated here'), ('annotated', 'from annotated summaries')], default='imported', max_length=9),
        ),
        migrations.AddConstraint(
            model_name='summary',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['imported', 'session', 'generated', 'annotated'])), name='summary_origin_known'),
        ),
        migrations.AddConstraint(
            model_name='summary',
            constraint=models.UniqueConstraint(condition=models.Q(('origin__in', ['session', 'annotated']), _negated=True), fields=('subtopic', 'system'), name='summary_one_per_system'),
        ),
        migrations.AddConstraint(
            model_name='summary',
            constraint=models.UniqueConstraint(condition=models.Q(('origin', 'annotated')), fields=('subtopic', 'system', 'text_sha256'), name='summary_annotated_text_unique'),
        ),
        migrations.RemoveConstraint(
            model_name='judge',
            name='judge_kind_known',
        ),
        migrations.RemoveConstraint(
            model_name='verdict',
            name='verdict_covered_iff_linked',
        ),
        migrations.AddField(
            model_name='verdict',
            name='p_full',
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='verdict',
            name='p_partial',
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='judge',
            name='kind',
            field=models.CharField(choices=[('lexical', 'offline, lexical'), ('openai', 'OpenAI-compatible model'), ('imported', 'imported predictions'), ('jury', 'jury of other judges')], max_length=8),
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['lexical', 'openai', 'imported', 'jury'])), name='judge_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='verdict',
            constraint=models.CheckConstraint(condition=models.Q(('is_imported', True), ('is_valid', False), models.Q(('coverage', 'none'), ('is_linked', False)), models.Q(models.Q(('coverage', 'none'), _negated=True), ('is_linked', True)), models.Q(models.Q(('coverage', 'none'), _negated=True), ('breaks_rule', True), ('is_linked', False)), _connector='OR'), name='verdict_covered_iff_linked'),
        ),
        migrations.AddConstraint(
            model_name='verdict',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('p_full', None), ('p_partial', None)), models.Q(('p_full__gte', 0), ('p_full__lte', django.db.models.expressions.CombinedExpression(models.Value(1.001), '-', models.F('p_partial'))), ('p_partial__gte', 0)), _connector='OR'), name='verdict_probabilities_in_range'),
        ),
        migrations.CreateModel(
            name='Retrieval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('retriever', models.CharField(max_length=120)),
                ('version', models.CharField(help_text='Hash of the retriever, its revision and its settings.', max_length=12)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('state', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('done', 'done'), ('failed', 'failed')], default='queued', max_length=8)),
                ('n_done', models.PositiveIntegerField(default=0)),
                ('n_total', models.PositiveIntegerField(default=0)),
                ('message', models.TextField(blank=True)),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['haystack', 'retriever', 'created_at'],
            },
        ),
        migrations.CreateModel(
            name='RetrieverAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64, unique=True)),
                ('content', models.BinaryField(help_text='Little-endian numbers.')),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='retrieverranking',
            name='ranking_retriever_unique',
        ),
        migrations.AddField(
            model_name='retrieverranking',
            name='inputs_sha256',
            field=models.CharField(blank=True, help_text='Of the texts the scores were made from.', max_length=64),
        ),
        migrations.AddField(
            model_name='retrieverranking',
            name='version',
            field=models.CharField(blank=True, max_length=12),
        ),
        migrations.AddConstraint(
            model_name='retrieverranking',
            constraint=models.UniqueConstraint(fields=('subtopic', 'retriever', 'version'), name='ranking_retriever_unique'),
        ),
        migrations.AddField(
            model_name='retrieval',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='retrieval',
            name='haystack',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='retrievals', to='benchmarks.haystack'),
        ),
        migrations.AddConstraint(
            model_name='retrieval',
            constraint=models.UniqueConstraint(fields=('haystack', 'retriever', 'version'), name='retrieval_version_unique'),
        ),
        migrations.AddConstraint(
            model_name='retrieval',
            constraint=models.CheckConstraint(condition=models.Q(('n_done__lte', models.F('n_total'))), name='retrieval_done_of_total'),
        ),
        migrations.AddField(
            model_name='judgecall',
            name='price_share',
            field=models.DecimalField(decimal_places=3, default=1, max_digits=4),
        ),
        migrations.CreateModel(
            name='Batch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('base_url', models.CharField(max_length=300)),
                ('state', models.CharField(choices=[('writing', 'being written'), ('out', 'waiting for replies'), ('closed', 'closed')], default='writing', max_length=7)),
                ('n_requests', models.PositiveIntegerField(default=0)),
                ('price_share', models.DecimalField(decimal_places=3, default=1, max_digits=4)),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('claimed_by', models.CharField(blank=True, max_length=64)),
                ('created_at', models.DateTimeField()),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='benchmarks.judgerun')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.AddField(
            model_name='judgecall',
            name='batch',
            field=models.ForeignKey(blank=True, help_text='The files that it was last sent with.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='calls', to='benchmarks.batch'),
        ),
        migrations.AddField(
            model_name='judgerunitem',
            name='batch',
            field=models.ForeignKey(blank=True, help_text='The files whose replies it waits for.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='items', to='benchmarks.batch'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['writing', 'out', 'closed'])), name='batch_state_known'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(('price_share__gte', 0), ('price_share__lte', 1)), name='batch_price_share_in_range'),
        ),
        migrations.CreateModel(
            name='TextPosition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('content', models.BinaryField(help_text='Compressed JSON.')),
                ('summary', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='positions', to='benchmarks.summary')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('summary', 'key'), name='position_key_unique')],
            },
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('documents', models.JSONField(default=list)),
                ('n_bullets', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['subtopic', 'system'],
            },
        ),
        migrations.CreateModel(
            name='DraftText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(default=0)),
                ('text', models.TextField(blank=True)),
                ('is_valid', models.BooleanField(default=True)),
                ('raw', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['draft', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Summarizer',
            fields=[
            ],
            options={
                'proxy': True,
                'default_permissions': (),
                'indexes': [],
                'constraints': [],
            },
            bases=('benchmarks.judge',),
        ),
        migrations.RemoveConstraint(
            model_name='judge',
            name='judge_version_unique',
        ),
        migrations.RemoveConstraint(
            model_name='judgerunitem',
            name='runitem_one_subject',
        ),
        migrations.AddField(
            model_name='judge',
            name='role',
            field=models.CharField(choices=[('judge', 'judge'), ('summarizer', 'summarizer')], default='judge', max_length=10),
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.UniqueConstraint(fields=('role', 'name', 'version'), name='judge_version_unique'),
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['judge', 'summarizer'])), name='judge_role_known'),
        ),
        migrations.AddField(
            model_name='draft',
            name='judge',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drafts', to='benchmarks.judge', verbose_name='summarizer'),
        ),
        migrations.AddField(
            model_name='draft',
            name='subtopic',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='benchmarks.subtopic'),
        ),
        migrations.AddField(
            model_name='draft',
            name='summary',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='draft', to='benchmarks.summary'),
        ),
        migrations.AddField(
            model_name='draft',
            name='system',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='benchmarks.system'),
        ),
        migrations.AddField(
            model_name='judgerunitem',
            name='draft',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='run_items', to='benchmarks.draft'),
        ),
        migrations.AddConstraint(
            model_name='judgerunitem',
            constraint=models.UniqueConstraint(fields=('run', 'draft'), name='runitem_draft_unique'),
        ),
        migrations.AddConstraint(
            model_name='judgerunitem',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('draft', None), ('key_point', None), ('response', None), ('summary__isnull', False)), models.Q(('draft', None), ('key_point', None), ('response__isnull', False), ('summary', None)), models.Q(('draft', None), ('key_point__isnull', False), ('response', None), ('summary', None)), models.Q(('draft__isnull', False), ('key_point', None), ('response', None), ('summary', None)), _connector='OR'), name='runitem_one_subject'),
        ),
        migrations.AddField(
            model_name='drafttext',
            name='call',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='draft_texts', to='benchmarks.judgecall'),
        ),
        migrations.AddField(
            model_name='drafttext',
            name='draft',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='texts', to='benchmarks.draft'),
        ),
        migrations.AddField(
            model_name='drafttext',
            name='judge',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.judge'),
        ),
        migrations.AddField(
            model_name='drafttext',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='draft_texts', to='benchmarks.judgerun'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.UniqueConstraint(fields=('subtopic', 'system'), name='draft_one_per_system'),
        ),
        migrations.AddConstraint(
            model_name='drafttext',
            constraint=models.UniqueConstraint(fields=('draft', 'number'), name='drafttext_number_unique'),
        ),
        migrations.AddField(
            model_name='haystack',
            name='is_source',
            field=models.BooleanField(default=False, help_text='One or a few documents with a reference summary.'),
        ),
        migrations.AddField(
            model_name='summary',
            name='scores',
            field=models.JSONField(blank=True, default=dict, help_text='Scores that came with the text, by the name of their metric.'),
        ),
        migrations.AddField(
            model_name='summary',
            name='visible_words',
            field=models.PositiveIntegerField(blank=True, help_text='How many words of its documents the writer saw; empty: all.', null=True),
        ),
        migrations.AlterField(
            model_name='haystack',
            name='key',
            field=models.CharField(help_text='The topic id of the file it came from.', max_length=210, unique=True),
        ),
        migrations.AddField(
            model_name='retrieval',
            name='max_requests',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='retrieval',
            name='n_requests',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name='retrieval',
            name='state',
            field=models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('done', 'done'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='queued', max_length=9),
        ),
        migrations.AddConstraint(
            model_name='retrieval',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed', 'cancelled'])), name='retrieval_state_known'),
        ),
        migrations.AddConstraint(
            model_name='retrieval',
            constraint=models.CheckConstraint(condition=models.Q(('max_requests', None), ('n_requests__lte', models.F('max_requests')), _connector='OR'), name='retrieval_keeps_limit'),
        ),
        migrations.AddField(
            model_name='draft',
            name='condition',
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name='draft',
            name='n_words',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='draft',
            name='notes_of',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='benchmarks.draft'),
        ),
        migrations.AddField(
            model_name='draft',
            name='question',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='drafts', to='benchmarks.question'),
        ),
        migrations.AddField(
            model_name='draft',
            name='response',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='draft', to='benchmarks.response'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.UniqueConstraint(fields=('question', 'system'), name='draft_question_one_per_system'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('question', None), ('response', None), ('subtopic__isnull', False)), models.Q(('question__isnull', False), ('subtopic', None), ('summary', None)), _connector='OR'), name='draft_one_subject'),
        ),
        migrations.AddField(
            model_name='draft',
            name='others',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name='draft',
            name='relevant',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name='SummaryRating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('aspect', models.CharField(choices=[('overall', 'overall'), ('informativeness', 'informativeness'), ('quality', 'quality'), ('coherence', 'coherence'), ('attributability', 'attributability')], max_length=15)),
                ('repeat', models.PositiveSmallIntegerField(default=0)),
                ('value', models.PositiveSmallIntegerField(blank=True, help_text='Empty: invalid answer.', null=True)),
                ('is_valid', models.BooleanField(default=True)),
                ('input_sha256', models.CharField(blank=True, help_text='Hash of what was rated.', max_length=64)),
                ('raw', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField()),
                ('call', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='ratings', to='benchmarks.judgecall')),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='benchmarks.judge')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='ratings', to='benchmarks.judgerun')),
                ('summary', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='benchmarks.summary')),
            ],
            options={
                'ordering': ['summary', 'judge', 'aspect'],
                'constraints': [models.UniqueConstraint(fields=('judge', 'summary', 'aspect', 'repeat'), name='summaryrating_unique'), models.CheckConstraint(condition=models.Q(('aspect__in', ('overall', 'informativeness', 'quality', 'coherence', 'attributability'))), name='summaryrating_aspect_known'), models.CheckConstraint(condition=models.Q(models.Q(('is_valid', True), ('value__gte', 1), ('value__isnull', False), ('value__lte', 5)), models.Q(('is_valid', False), ('value', None)), _connector='OR'), name='summaryrating_value_iff_valid')],
            },
        ),
        migrations.AddField(
            model_name='haystack',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='judge',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='modelprice',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='question',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.RunPython(find_owners, migrations.RunPython.noop),
        migrations.CreateModel(
            name='Result',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=60)),
                ('options', models.JSONField(blank=True, default=dict)),
                ('key', models.CharField(max_length=64, unique=True)),
                ('wanted', models.CharField(max_length=64)),
                ('version', models.CharField(blank=True, max_length=64)),
                ('failed', models.CharField(blank=True, max_length=64)),
                ('reason', models.TextField(blank=True)),
                ('figures', models.BinaryField(blank=True, help_text='JSON, compressed with zlib.', null=True)),
                ('computed_at', models.DateTimeField(blank=True, null=True)),
                ('took', models.DurationField(default=datetime.timedelta)),
                ('memory', models.PositiveIntegerField(default=0, help_text='The most that its worker took until then, in MiB.')),
                ('program', models.CharField(blank=True, help_text='The version of the program that computed it.', max_length=40)),
                ('asked_at', models.DateTimeField()),
                ('checked_at', models.DateTimeField(help_text='When the facts were last looked at.')),
                ('looked_at', models.DateTimeField(db_index=True)),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('claimed_by', models.CharField(blank=True, max_length=32)),
            ],
            options={
                'ordering': ['-asked_at'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('computed_at', None), ('figures', None), ('version', '')), models.Q(('computed_at__isnull', False), ('figures__isnull', False), models.Q(('version', ''), _negated=True)), _connector='OR'), name='result_figures_have_version'), models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), _negated=True), ('failed', ''), _connector='OR'), name='result_failure_has_reason')],
            },
        ),
    ]
