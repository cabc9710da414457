"""What the story of the leaderboard adds to an imported haystack: two people who handed in texts on it."""

from __future__ import annotations

from typing import Any


def prepare() -> None:
    """Two finished sessions on each of six subtopics; each text says half of the insights, and cites them."""
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group
    from django.utils import timezone

    from annotation.models import Annotator
    from annotation.writing import scoring
    from benchmarks.models import Haystack
    from tests import makers

    now = timezone.now()
    users: Any = get_user_model()
    haystack = Haystack.objects.latest("pk")
    people = []
    for name in ("petra", "piet"):
        user = users.objects.create_user(username=name)
        user.groups.add(Group.objects.get(name="annotator"))
        people.append(Annotator.objects.create(user=user, label=name.title(), created_at=now))
    study = makers.make_writing_study(
        haystack=haystack,
        name="Study of the news",
        researcher=users.objects.get(username="ada"),
        annotators=people,
        now=now,
    )
    for subtopic in haystack.subtopics.order_by("number")[:6]:
        for place, person in enumerate(people):
            found = list(subtopic.insights.order_by("number"))[place::2]
            text = "\n".join(f"- {one.text} [{', '.join(map(str, one.gold_documents))}]" for one in found)
            task = makers.make_assignment(annotator=person, study=study, subtopic=subtopic, now=now)
            session = makers.make_session(
                assignment=task, state="submitted", revisions=[(3_000_000, text)], now=now
            )
            makers.fill_missing(session=session, now=now)
    scoring.score_snapshots(now=now)
