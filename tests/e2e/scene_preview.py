"""What the story of previews finds besides: a validation study."""

from __future__ import annotations


def prepare() -> dict[str, str]:
    """Make the study and its one annotator."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group
    from django.utils import timezone

    from annotation.models import Annotator
    from tests.annotation.test_validation import make, make_judged
    from tests.e2e.scene import PASSWORD

    users = get_user_model().objects
    user = users.create_user(username="paula", password=PASSWORD)
    user.groups.add(Group.objects.get(name="annotator"))
    Annotator.objects.create(user=user, label="Paula", created_at=timezone.now())
    study = make([user], make_judged(n=2, name="previewed"), n=4, by=users.get(username="ada"))
    return {"study": str(study.uid)}
