"""All that was added since 0.2, in one step; rows that 0.2 had get owners from the audit log."""

import datetime
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.text
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


READING = ('keywords', 'tfidf', 'bm25', 'embeddings', 'rerank')
EARLIER = {'with_subtopic': False}
OF_KEYWORDS = {'words': 'content'}
USUAL = {'keywords': '609c279f1505', 'tfidf': '0d3ad9148164', 'bm25': '5ff36ab51f1f'}


def name_rules(apps, schema_editor):
    """Retrievers got settings: what they are asked with, and which words are keywords. Earlier scores keep their versions.

    They were made from the query alone, keywords from different content words. A plain name stands for the settings that
    are usual now, so systems that were shown documents by the earlier ones are named with their version.
    """
    for row in apps.get_model('benchmarks', 'Retrieval').objects.filter(retriever__in=READING):
        row.settings = {**EARLIER, **(OF_KEYWORDS if row.retriever == 'keywords' else {}), **row.settings}
        row.save(update_fields=['settings'])
    for name, version in USUAL.items():
        rename(apps, name, f'{name}@{version}')


def forget_rules(apps, schema_editor):
    for name, version in USUAL.items():
        rename(apps, f'{name}@{version}', name)
    for row in apps.get_model('benchmarks', 'Retrieval').objects.filter(retriever__in=READING):
        row.settings = {key: value for key, value in row.settings.items() if key not in EARLIER | OF_KEYWORDS}
        row.save(update_fields=['settings'])


def rename(apps, before, after):
    """Systems that were written here; of an imported one the name says nothing of this program's retrievers."""
    systems = apps.get_model('benchmarks', 'System').objects.filter(retriever=before, drafts__isnull=False)
    for system in systems.distinct():
        tail = system.key.removeprefix(f'{before}_')
        system.retriever, system.key = after, f'{after}_{tail}'[:200]
        system.save(update_fields=['retriever', 'key'])


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
            ],
            options={
                'ordering': ['key_point', 'judge', 'repeat'],
            },
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
            ],
            options={
                'verbose_name_plural': 'batches',
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('documents', models.JSONField(default=list)),
                ('others', models.JSONField(blank=True, default=dict)),
                ('relevant', models.PositiveIntegerField(blank=True, null=True)),
                ('n_bullets', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('n_sentences', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('new_tokens', models.PositiveIntegerField(blank=True, null=True)),
                ('cut', models.JSONField(blank=True, default=dict)),
                ('condition', models.CharField(blank=True, max_length=200)),
                ('n_words', models.PositiveIntegerField(blank=True, null=True)),
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
            ],
            options={
                'ordering': ['key_point', 'judge', 'judgment'],
            },
        ),
        migrations.CreateModel(
            name='ResearchGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=80)),
                ('created_at', models.DateTimeField()),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['name', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Result',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=60)),
                ('options', models.JSONField(blank=True, default=dict)),
                ('groups', models.JSONField(blank=True, help_text='The research groups, by primary key, in whose sight it is computed; empty: the whole site.', null=True)),
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
            },
        ),
        migrations.CreateModel(
            name='Retrieval',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('retriever', models.CharField(max_length=120)),
                ('version', models.CharField(help_text='Hash of the retriever, its revision and its settings.', max_length=12)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('state', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('done', 'done'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='queued', max_length=9)),
                ('n_done', models.PositiveIntegerField(default=0)),
                ('n_total', models.PositiveIntegerField(default=0)),
                ('n_requests', models.PositiveIntegerField(default=0)),
                ('max_requests', models.PositiveIntegerField(blank=True, null=True)),
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
        migrations.CreateModel(
            name='SourceDataset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=80, unique=True)),
                ('n_sentences', models.PositiveSmallIntegerField()),
                ('new_tokens', models.PositiveIntegerField()),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='SourceSample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=80, unique=True)),
                ('rule', models.CharField(choices=[('any', 'any'), ('late', 'content late')], default='any', max_length=4)),
                ('from_word', models.PositiveIntegerField(default=0)),
                ('seed', models.PositiveIntegerField(default=0)),
                ('parts', models.JSONField(default=dict)),
                ('problem', models.TextField(blank=True)),
                ('drawn_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='SummaryRating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('aspect', models.CharField(max_length=15)),
                ('repeat', models.PositiveSmallIntegerField(default=0)),
                ('value', models.PositiveSmallIntegerField(blank=True, help_text='Empty: invalid answer.', null=True)),
                ('is_valid', models.BooleanField(default=True)),
                ('input_sha256', models.CharField(blank=True, help_text='Hash of what was rated.', max_length=64)),
                ('raw', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['summary', 'judge', 'aspect'],
            },
        ),
        migrations.CreateModel(
            name='TextPosition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('content', models.BinaryField(help_text='Compressed JSON.')),
            ],
        ),
        migrations.CreateModel(
            name='UploadPiece',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=500)),
                ('number', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
            ],
            options={
                'ordering': ['name', 'number'],
            },
        ),
        migrations.CreateModel(
            name='Generator',
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
        migrations.AlterModelOptions(
            name='summary',
            options={'ordering': ['subtopic', 'system', 'pk'], 'verbose_name_plural': 'summaries'},
        ),
        migrations.RemoveConstraint(
            model_name='judge',
            name='judge_version_unique',
        ),
        migrations.RemoveConstraint(
            model_name='judge',
            name='judge_kind_known',
        ),
        migrations.RemoveConstraint(
            model_name='judgerunitem',
            name='runitem_one_subject',
        ),
        migrations.RemoveConstraint(
            model_name='retrieverranking',
            name='ranking_retriever_unique',
        ),
        migrations.RemoveConstraint(
            model_name='summary',
            name='summary_origin_known',
        ),
        migrations.RemoveConstraint(
            model_name='summary',
            name='summary_one_per_system',
        ),
        migrations.RemoveConstraint(
            model_name='verdict',
            name='verdict_covered_iff_linked',
        ),
        migrations.AddField(
            model_name='haystack',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='haystack',
            name='is_source',
            field=models.BooleanField(default=False, help_text='One or a few documents with a reference summary.'),
        ),
        migrations.AddField(
            model_name='judge',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='judge',
            name='published_cost',
            field=models.DecimalField(blank=True, decimal_places=4, help_text='In US dollars, as whoever published imported verdicts gives it.', max_digits=12, null=True),
        ),
        migrations.AddField(
            model_name='judge',
            name='role',
            field=models.CharField(choices=[('judge', 'judge'), ('summarizer', 'summarizer'), ('generator', 'generator')], default='judge', max_length=10),
        ),
        migrations.AddField(
            model_name='judgecall',
            name='price_share',
            field=models.DecimalField(decimal_places=3, default=1, max_digits=4),
        ),
        migrations.AddField(
            model_name='judgerun',
            name='scope',
            field=models.JSONField(blank=True, default=dict, help_text='What it is about, in names; see benchmarks.engine.scopes.'),
        ),
        migrations.AddField(
            model_name='judgerunitem',
            name='other',
            field=models.BigIntegerField(blank=True, db_column='part_id', db_index=True, help_text='Key of a row of the extension whose task it is.', null=True),
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
        migrations.AddField(
            model_name='question',
            name='haystack',
            field=models.ForeignKey(blank=True, help_text='The haystack whose documents and insights these are, if they are of one.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='questions', to='benchmarks.haystack'),
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
            model_name='haystack',
            name='key',
            field=models.CharField(help_text='The topic id of the file it came from.', max_length=210, unique=True),
        ),
        migrations.AlterField(
            model_name='judge',
            name='kind',
            field=models.CharField(choices=[('lexical', 'offline, lexical'), ('openai', 'OpenAI-compatible model'), ('imported', 'imported predictions'), ('jury', 'jury of other judges'), ('search', 'search for documents')], max_length=8),
        ),
        migrations.AlterField(
            model_name='summary',
            name='origin',
            field=models.CharField(choices=[('imported', 'imported'), ('session', 'written in a session'), ('generated', 'generated here'), ('annotated', 'from annotated summaries')], default='imported', max_length=9),
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.UniqueConstraint(fields=('role', 'name', 'version'), name='judge_version_unique'),
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ['judge', 'summarizer', 'generator'])), name='judge_role_known'),
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['lexical', 'openai', 'imported', 'jury', 'search'])), name='judge_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.CheckConstraint(condition=models.Q(('published_cost', None), models.Q(('kind', 'imported'), ('published_cost__gte', 0)), _connector='OR'), name='judge_published_cost_of_imported'),
        ),
        migrations.AddConstraint(
            model_name='retrieverranking',
            constraint=models.UniqueConstraint(fields=('subtopic', 'retriever', 'version'), name='ranking_retriever_unique'),
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
        migrations.AddConstraint(
            model_name='verdict',
            constraint=models.CheckConstraint(condition=models.Q(('is_imported', True), ('is_valid', False), models.Q(('coverage', 'none'), ('is_linked', False)), models.Q(models.Q(('coverage', 'none'), _negated=True), ('is_linked', True)), models.Q(models.Q(('coverage', 'none'), _negated=True), ('breaks_rule', True), ('is_linked', False)), _connector='OR'), name='verdict_covered_iff_linked'),
        ),
        migrations.AddConstraint(
            model_name='verdict',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('p_full', None), ('p_partial', None)), models.Q(('p_full__gte', 0), ('p_full__lte', django.db.models.expressions.CombinedExpression(models.Value(1.001), '-', models.F('p_partial'))), ('p_partial__gte', 0)), _connector='OR'), name='verdict_probabilities_in_range'),
        ),
        migrations.AddField(
            model_name='autodsscore',
            name='call',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='autods_scores', to='benchmarks.judgecall'),
        ),
        migrations.AddField(
            model_name='autodsscore',
            name='judge',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='autods_scores', to='benchmarks.judge'),
        ),
        migrations.AddField(
            model_name='autodsscore',
            name='key_point',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='autods_scores', to='benchmarks.keypoint'),
        ),
        migrations.AddField(
            model_name='autodsscore',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='autods_scores', to='benchmarks.judgerun'),
        ),
        migrations.AddField(
            model_name='batch',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='benchmarks.judgerun'),
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
        migrations.AddField(
            model_name='draft',
            name='judge',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='drafts', to='benchmarks.judge', verbose_name='summarizer'),
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
            constraint=models.UniqueConstraint(fields=('run', 'other'), name='runitem_part_unique'),
        ),
        migrations.AddConstraint(
            model_name='judgerunitem',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('draft', None), ('key_point', None), ('other', None), ('response', None), ('summary__isnull', False)), models.Q(('draft', None), ('key_point', None), ('other', None), ('response__isnull', False), ('summary', None)), models.Q(('draft', None), ('key_point__isnull', False), ('other', None), ('response', None), ('summary', None)), models.Q(('draft__isnull', False), ('key_point', None), ('other', None), ('response', None), ('summary', None)), models.Q(('draft', None), ('key_point', None), ('other__isnull', False), ('response', None), ('summary', None)), _connector='OR'), name='runitem_one_subject'),
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
        migrations.AddField(
            model_name='keypointverdict',
            name='call',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='key_point_verdicts', to='benchmarks.judgecall'),
        ),
        migrations.AddField(
            model_name='keypointverdict',
            name='judge',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='key_point_verdicts', to='benchmarks.judge'),
        ),
        migrations.AddField(
            model_name='keypointverdict',
            name='key_point',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgments', to='benchmarks.keypoint'),
        ),
        migrations.AddField(
            model_name='keypointverdict',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='key_point_verdicts', to='benchmarks.judgerun'),
        ),
        migrations.AddField(
            model_name='researchgroup',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='researchgroup',
            name='members',
            field=models.ManyToManyField(blank=True, related_name='research_groups', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='haystack',
            name='group',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='haystacks', to='benchmarks.researchgroup'),
        ),
        migrations.AddField(
            model_name='judgerun',
            name='groups',
            field=models.ManyToManyField(blank=True, help_text='Those that its texts belong to.', related_name='runs', to='benchmarks.researchgroup'),
        ),
        migrations.AddField(
            model_name='question',
            name='group',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='questions', to='benchmarks.researchgroup'),
        ),
        migrations.AddConstraint(
            model_name='result',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('computed_at', None), ('figures', None), ('version', '')), models.Q(('computed_at__isnull', False), ('figures__isnull', False), models.Q(('version', ''), _negated=True)), _connector='OR'), name='result_figures_have_version'),
        ),
        migrations.AddConstraint(
            model_name='result',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('reason', ''), _negated=True), ('failed', ''), _connector='OR'), name='result_failure_has_reason'),
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
            model_name='sourcedataset',
            constraint=models.CheckConstraint(condition=models.Q(('n_sentences__gte', 1)), name='sourcedataset_sentences_from_1'),
        ),
        migrations.AddConstraint(
            model_name='sourcedataset',
            constraint=models.CheckConstraint(condition=models.Q(('new_tokens__gte', 1)), name='sourcedataset_tokens_from_1'),
        ),
        migrations.AddField(
            model_name='sourcesample',
            name='created_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='sourcesample',
            name='group',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.researchgroup'),
        ),
        migrations.AddField(
            model_name='sourcesample',
            name='members',
            field=models.ManyToManyField(blank=True, related_name='samples', to='benchmarks.haystack'),
        ),
        migrations.AddField(
            model_name='summaryrating',
            name='call',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='ratings', to='benchmarks.judgecall'),
        ),
        migrations.AddField(
            model_name='summaryrating',
            name='judge',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='benchmarks.judge'),
        ),
        migrations.AddField(
            model_name='summaryrating',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='ratings', to='benchmarks.judgerun'),
        ),
        migrations.AddField(
            model_name='summaryrating',
            name='summary',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='benchmarks.summary'),
        ),
        migrations.AddField(
            model_name='textposition',
            name='summary',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='positions', to='benchmarks.summary'),
        ),
        migrations.AddConstraint(
            model_name='uploadpiece',
            constraint=models.UniqueConstraint(fields=('name', 'number'), name='uploadpiece_once'),
        ),
        migrations.AddConstraint(
            model_name='autodsscore',
            constraint=models.UniqueConstraint(fields=('judge', 'key_point', 'repeat'), name='autodsscore_unique'),
        ),
        migrations.AddConstraint(
            model_name='autodsscore',
            constraint=models.CheckConstraint(condition=models.Q(('value', None), models.Q(('value__gte', 0), ('value__lte', 1)), _connector='OR'), name='autodsscore_is_share'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['writing', 'out', 'closed'])), name='batch_state_known'),
        ),
        migrations.AddConstraint(
            model_name='batch',
            constraint=models.CheckConstraint(condition=models.Q(('price_share__gte', 0), ('price_share__lte', 1)), name='batch_price_share_in_range'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.UniqueConstraint(fields=('subtopic', 'system'), name='draft_one_per_system'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.UniqueConstraint(fields=('question', 'system'), name='draft_question_one_per_system'),
        ),
        migrations.AddConstraint(
            model_name='draft',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('question', None), ('response', None), ('subtopic__isnull', False)), models.Q(('question__isnull', False), ('subtopic', None), ('summary', None)), _connector='OR'), name='draft_one_subject'),
        ),
        migrations.AddConstraint(
            model_name='drafttext',
            constraint=models.UniqueConstraint(fields=('draft', 'number'), name='drafttext_number_unique'),
        ),
        migrations.AddConstraint(
            model_name='keypointverdict',
            constraint=models.UniqueConstraint(fields=('judge', 'key_point', 'judgment', 'repeat'), name='keypointverdict_unique'),
        ),
        migrations.AddConstraint(
            model_name='keypointverdict',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('answer__in', ['yes', 'no']), ('judgment', 'grounded')), models.Q(('answer__in', ['agree', 'neutral', 'disagree']), ('judgment', 'key_point')), models.Q(('answer', ''), ('is_valid', False), ('judgment__in', ['grounded', 'key_point'])), _connector='OR'), name='keypointverdict_answer_known'),
        ),
        migrations.AddConstraint(
            model_name='researchgroup',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('name'), name='researchgroup_name_unique_in_any_case'),
        ),
        migrations.AddConstraint(
            model_name='researchgroup',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='researchgroup_has_name'),
        ),
        migrations.AddConstraint(
            model_name='retrieval',
            constraint=models.UniqueConstraint(fields=('haystack', 'retriever', 'version'), name='retrieval_version_unique'),
        ),
        migrations.AddConstraint(
            model_name='retrieval',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed', 'cancelled'])), name='retrieval_state_known'),
        ),
        migrations.AddConstraint(
            model_name='retrieval',
            constraint=models.CheckConstraint(condition=models.Q(('max_requests', None), ('n_requests__lte', models.F('max_requests')), _connector='OR'), name='retrieval_keeps_limit'),
        ),
        migrations.AddConstraint(
            model_name='retrieval',
            constraint=models.CheckConstraint(condition=models.Q(('n_done__lte', models.F('n_total'))), name='retrieval_done_of_total'),
        ),
        migrations.AddConstraint(
            model_name='sourcesample',
            constraint=models.CheckConstraint(condition=models.Q(('rule__in', ['any', 'late'])), name='sourcesample_rule_known'),
        ),
        migrations.AddConstraint(
            model_name='summaryrating',
            constraint=models.UniqueConstraint(fields=('judge', 'summary', 'aspect', 'repeat'), name='summaryrating_unique'),
        ),
        migrations.AddConstraint(
            model_name='summaryrating',
            constraint=models.CheckConstraint(condition=models.Q(('aspect', ''), _negated=True), name='summaryrating_aspect_named'),
        ),
        migrations.AddConstraint(
            model_name='summaryrating',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('is_valid', True), ('value__gte', 1), ('value__isnull', False), ('value__lte', 5)), models.Q(('is_valid', False), ('value', None)), _connector='OR'), name='summaryrating_value_iff_valid'),
        ),
        migrations.AddConstraint(
            model_name='textposition',
            constraint=models.UniqueConstraint(fields=('summary', 'key'), name='position_key_unique'),
        ),
        migrations.CreateModel(
            name='SentSummary',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('text', models.TextField()),
                ('text_sha256', models.CharField(max_length=64)),
                ('answers', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField()),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sent_summaries', to='benchmarks.judge')),
                ('subtopic', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sent_summaries', to='benchmarks.subtopic')),
            ],
            options={
                'verbose_name_plural': 'sent summaries',
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('judge', 'subtopic', 'text_sha256'), name='sent_once_per_judge')],
            },
        ),
        migrations.CreateModel(
            name='ModelFamily',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=200, unique=True)),
                ('family', models.CharField(blank=True, max_length=60)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'model families',
                'ordering': ['model'],
            },
        ),
        migrations.CreateModel(
            name='ImportMapping',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('tool', models.CharField(max_length=40)),
                ('mapping', models.JSONField()),
                ('saved_at', models.DateTimeField()),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.researchgroup')),
            ],
            options={
                'ordering': ['-saved_at'],
                'constraints': [models.UniqueConstraint(fields=('created_by', 'name'), name='importmapping_name_unique')],
            },
        ),
        migrations.RunPython(find_owners, migrations.RunPython.noop),
        migrations.RunPython(name_rules, forget_rules),
    ]
