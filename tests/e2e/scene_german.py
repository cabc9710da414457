"""What the German story finds: greta, who links two summaries after a trial, and writes one."""

from __future__ import annotations


def prepare() -> None:
    """Make her, her documents and her tasks."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group
    from django.utils import timezone

    from annotation.models import Annotator
    from tests import makers
    from tests.e2e.scene import PASSWORD

    now = timezone.now()
    greta = get_user_model().objects.create_user(username="greta", password=PASSWORD)
    greta.groups.add(Group.objects.get(name="annotator"))
    Annotator.objects.create(user=greta, label="Greta", created_at=now)
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
