"""No field for each aspect any more."""

import django.db.models.functions.comparison
import django.db.models.functions.text
import django.db.models.lookups
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0019_ratings_by_aspect'),
        ('benchmarks', '0014_any_aspect'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='ratinglabel',
            name='ratinglabel_on_the_scale',
        ),
        migrations.RemoveConstraint(
            model_name='ratinglabel',
            name='ratinglabel_complete_iff_all_rated',
        ),
        migrations.RemoveField(
            model_name='ratinglabel',
            name='attributability',
        ),
        migrations.RemoveField(
            model_name='ratinglabel',
            name='coherence',
        ),
        migrations.RemoveField(
            model_name='ratinglabel',
            name='informativeness',
        ),
        migrations.RemoveField(
            model_name='ratinglabel',
            name='overall',
        ),
        migrations.RemoveField(
            model_name='ratinglabel',
            name='quality',
        ),
        migrations.AddConstraint(
            model_name='ratinglabel',
            constraint=models.CheckConstraint(condition=models.Q(django.db.models.lookups.GreaterThan(django.db.models.functions.text.StrIndex(django.db.models.functions.comparison.Cast('ratings', models.TextField()), models.Value(':')), 0), models.Q(django.db.models.lookups.GreaterThan(django.db.models.functions.text.StrIndex(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.text.Replace(django.db.models.functions.comparison.Cast('ratings', models.TextField()), models.Value('}'), models.Value(',')), models.Value(': null,'), models.Value(',')), models.Value(': 1,'), models.Value(',')), models.Value(': 2,'), models.Value(',')), models.Value(': 3,'), models.Value(',')), models.Value(': 4,'), models.Value(',')), models.Value(': 5,'), models.Value(',')), models.Value(':')), 0), _negated=True)), name='ratinglabel_on_the_scale'),
        ),
        migrations.AddConstraint(
            model_name='ratinglabel',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('is_complete', False), django.db.models.lookups.GreaterThan(django.db.models.functions.text.StrIndex(django.db.models.functions.comparison.Cast('ratings', models.TextField()), models.Value(': null')), 0)), models.Q(('is_complete', True), models.Q(django.db.models.lookups.GreaterThan(django.db.models.functions.text.StrIndex(django.db.models.functions.comparison.Cast('ratings', models.TextField()), models.Value(': null')), 0), _negated=True)), _connector='OR'), name='ratinglabel_complete_iff_all_rated'),
        ),
    ]
