"""All that was added since 0.2, in one step."""

from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('summhay_site', name)
        for name in (
            '0002_recruited_accounts',
            '0003_people_choose_their_language',
            '0004_workers_name_their_queues',
        )
    ]

    dependencies = [
        ('summhay_site', '0001_initial'),
    ]

    operations = [
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
            model_name='workerheartbeat',
            name='queues',
            field=models.JSONField(default=list, help_text='Names of the queues that it takes work from.'),
        ),
    ]
