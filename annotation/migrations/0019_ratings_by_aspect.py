"""Ratings by aspect in one field, from a field for each aspect."""

from django.db import migrations, models

ASPECTS = ("overall", "informativeness", "quality", "coherence", "attributability")


def move(apps, schema_editor):
    labels = apps.get_model("annotation", "RatingLabel").objects.order_by("pk")
    batch = []
    for label in labels.iterator(chunk_size=1000):
        label.ratings = {aspect: getattr(label, aspect) for aspect in ASPECTS}
        batch.append(label)
        if len(batch) == 1000:
            labels.bulk_update(batch, ["ratings"])
            batch.clear()
    labels.bulk_update(batch, ["ratings"])


class Migration(migrations.Migration):
    dependencies = [("annotation", "0018_plural_names")]
    operations = [
        migrations.AddField("ratinglabel", "ratings", models.JSONField(default=dict)),
        migrations.RunPython(move, migrations.RunPython.noop),
    ]
