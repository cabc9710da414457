"""Retrievers got settings: what they are asked with, and which words are keywords. Earlier scores keep their versions.

They were made from the query alone, keywords from different content words. A plain name stands for the settings that
are usual now, so systems that were shown documents by the earlier ones are named with their version.
"""

from django.db import migrations

READING = ('keywords', 'tfidf', 'bm25', 'embeddings', 'rerank')
EARLIER = {'with_subtopic': False}
OF_KEYWORDS = {'words': 'content'}
USUAL = {'keywords': '609c279f1505', 'tfidf': '0d3ad9148164', 'bm25': '5ff36ab51f1f'}


def name_rules(apps, schema_editor):
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
        ('benchmarks', '0007_cut_documents'),
    ]

    operations = [
        migrations.RunPython(name_rules, forget_rules),
    ]
