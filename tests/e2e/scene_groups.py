"""What the story of research groups finds: an admin, and two researchers of one study. Gives the study's id."""

from __future__ import annotations

from typing import Any


def prepare() -> dict[str, str]:
    """Make eve, the admin; rita and robin, who both run the study; and texts that the whole site sees."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group
    from django.utils import timezone

    from tests import makers
    from tests.e2e.scene import PASSWORD

    now = timezone.now()
    users: dict[str, Any] = {}
    for name, role in (("eve", "admin"), ("rita", "researcher"), ("robin", "researcher")):
        users[name] = get_user_model().objects.create_user(username=name, password=PASSWORD)
        users[name].groups.add(Group.objects.get(name=role))
    haystack = makers.make_haystack(key="groups", title="Ferries of a group", now=now)
    study = makers.make_writing_study(haystack=haystack, name="Study of terns", researcher=users["rita"], now=now)
    study.researchers.add(users["robin"])
    return {"study": str(study.uid)}
