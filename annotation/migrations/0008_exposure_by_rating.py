"""Rating gets a reason of its own among those why somebody may not write on a haystack."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0007_ratings'),
        ('benchmarks', '0014_ratings'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
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
    ]
