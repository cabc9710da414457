from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('summhay_site', '0002_recruited_accounts'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='language',
            field=models.CharField(blank=True, help_text='Of pages and mails, for annotators; empty means that of the browser.', max_length=8),
        ),
    ]
