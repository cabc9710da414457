"""What the German story finds: greta, who links two summaries after a trial, and writes one."""

from django.utils import timezone

from tests import makers
from tests.e2e.scene import person


def prepare() -> None:
    """Make her, her documents and her tasks."""
    now = timezone.now()
    greta = person("greta")
    linked, written = (
        makers.make_haystack(key=f"german-{what}", title=f"Ferries {what}", now=now)
        for what in ("linked", "written")
    )
    subtopics = linked.subtopics.order_by("number")
    summaries = [makers.make_summary(subtopic=each, now=now) for each in subtopics]
    study = makers.make_linking_study(annotators=[greta], summaries=summaries, name="Study of Greta", now=now)
    study.has_trial = True
    study.save()
    study = makers.make_writing_study(haystack=written, name="Texts of Greta", annotators=[greta], now=now)
    makers.make_assignment(annotator=greta, study=study, now=now)
