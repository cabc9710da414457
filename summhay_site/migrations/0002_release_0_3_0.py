"""All that was added since 0.2, in one step."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('summhay_site', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='LastTime',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200, unique=True)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('url', models.URLField(max_length=500)),
                ('events', models.JSONField(default=list)),
                ('made_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-made_at'],
            },
        ),
        migrations.CreateModel(
            name='Token',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=80)),
                ('scope', models.CharField(choices=[('read', 'Read'), ('score', 'Score summaries')], default='read', max_length=10)),
                ('budget', models.DecimalField(blank=True, decimal_places=4, help_text='In US dollars, of each judge.', max_digits=12, null=True)),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('made_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField(blank=True, null=True)),
                ('used_at', models.DateTimeField(blank=True, help_text='To the minute.', null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-made_at'],
                'constraints': [models.CheckConstraint(condition=models.Q(('scope__in', ['read', 'score'])), name='token_scope_known')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('event', models.CharField(max_length=20)),
                ('key', models.CharField(help_text='What makes an event one and the same.', max_length=100)),
                ('body', models.TextField()),
                ('made_at', models.DateTimeField()),
                ('next_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                ('n_tries', models.PositiveSmallIntegerField(default=0)),
                ('outcome', models.CharField(blank=True, help_text='Of the last try.', max_length=200)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='summhay_site.webhook')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ['-made_at', '-pk'],
                'constraints': [models.UniqueConstraint(fields=('webhook', 'key'), name='delivery_once')],
            },
        ),
        migrations.AddField(
            model_name='user',
            name='is_recruited',
            field=models.BooleanField(default=False, editable=False, help_text='Came by a recruitment link: logs in by a cookie of one browser and never has a password.'),
        ),
        migrations.AddField(
            model_name='user',
            name='language',
            field=models.CharField(blank=True, help_text='Of pages and mails, for annotators; empty means that of the browser.', max_length=8),
        ),
        migrations.AddField(
            model_name='user',
            name='subject',
            field=models.CharField(blank=True, editable=False, help_text='What the institution that the person logs in through calls them: its address and a name.', max_length=500),
        ),
        migrations.AddField(
            model_name='workerheartbeat',
            name='ahead_s',
            field=models.FloatField(db_default=0, default=0, help_text="How far its clock is ahead of the database's, in seconds."),
        ),
        migrations.AddField(
            model_name='workerheartbeat',
            name='queues',
            field=models.JSONField(default=list, help_text='Names of the queues that it takes work from.'),
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(models.F('subject'), condition=models.Q(('subject', ''), _negated=True), name='user_subject_unique'),
        ),
    ]
