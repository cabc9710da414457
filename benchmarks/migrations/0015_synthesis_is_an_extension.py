"""Tables of syntheses are those of the extension: empty ones go, so that it makes them; it takes over others."""

from django.db import migrations, models
from django.db.models import Q

NAMES = ["SynthesisDecision", "SynthesisReply", "SynthesisPart", "SynthesisStep", "Synthesis"]
SUBJECTS = ["summary", "response", "key_point", "draft", "other"]
KEY = models.BigIntegerField(
    null=True,
    blank=True,
    db_index=True,
    db_column="part_id",
    help_text="Key of a row of the extension whose task it is.",
)


def one_subject():
    condition = Q()
    for name in SUBJECTS:
        others = {other: None for other in SUBJECTS if other != name}
        condition |= Q(**{f"{name}__isnull": False}, **others)
    return condition


def drop_empty(apps, schema_editor):
    if not apps.get_model("benchmarks", "Synthesis")._base_manager.exists():
        for name in NAMES:
            schema_editor.delete_model(apps.get_model("benchmarks", name))


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0014_any_aspect")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.AlterField("judgerunitem", "part", KEY)],
            state_operations=[
                migrations.RemoveConstraint("judgerunitem", "runitem_part_unique"),
                migrations.RemoveConstraint("judgerunitem", "runitem_one_subject"),
                migrations.RemoveField("judgerunitem", "part"),
                migrations.AddField("judgerunitem", "other", KEY),
                migrations.AddConstraint(
                    "judgerunitem", models.UniqueConstraint(fields=("run", "other"), name="runitem_part_unique")
                ),
                migrations.AddConstraint(
                    "judgerunitem", models.CheckConstraint(condition=one_subject(), name="runitem_one_subject")
                ),
            ],
        ),
        migrations.RunPython(drop_empty),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel(name) for name in NAMES]),
    ]
