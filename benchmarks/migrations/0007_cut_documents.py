"""Where the last document of a draft was cut at the token budget, and by which count of tokens."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks', '0006_tasks_of_sources'),
    ]

    operations = [
        migrations.AddField(
            model_name='draft',
            name='cut',
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
