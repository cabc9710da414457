"""What is asked of summaries of sources: sentences and new tokens, by dataset, and as each draft was asked."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('benchmarks', '0005_source_samples'),
    ]

    operations = [
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
        migrations.AddConstraint(
            model_name='sourcedataset',
            constraint=models.CheckConstraint(condition=models.Q(('n_sentences__gte', 1)), name='sourcedataset_sentences_from_1'),
        ),
        migrations.AddConstraint(
            model_name='sourcedataset',
            constraint=models.CheckConstraint(condition=models.Q(('new_tokens__gte', 1)), name='sourcedataset_tokens_from_1'),
        ),
        migrations.AddField(
            model_name='draft',
            name='n_sentences',
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='draft',
            name='new_tokens',
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
    ]
