"""All that was added since 0.2, in one step."""

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
