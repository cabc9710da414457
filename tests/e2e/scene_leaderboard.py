"""What the story of the leaderboard adds to an imported haystack: two people who handed in texts on it."""

from django.utils import timezone

from annotation.writing import scoring
from benchmarks.models import Haystack
from tests import makers
from tests.e2e.scene import known, person


def prepare() -> None:
    """Two finished sessions on each of six subtopics; each text says half of the insights, and cites them."""
    now = timezone.now()
    haystack = Haystack.objects.latest("pk")
    people = [person(name) for name in ("petra", "piet")]
    study = makers.make_writing_study(
        haystack=haystack,
        name="Study of the news",
        researcher=known("ada"),
        annotators=people,
        now=now,
    )
    for subtopic in haystack.subtopics.order_by("number")[:6]:
        for place, writer in enumerate(people):
            found = list(subtopic.insights.order_by("number"))[place::2]
            text = "\n".join(f"- {one.text} [{', '.join(map(str, one.gold_documents))}]" for one in found)
            task = makers.make_assignment(annotator=writer, study=study, subtopic=subtopic, now=now)
            session = makers.make_session(
                assignment=task, state="submitted", revisions=[(3_000_000, text)], now=now
            )
            makers.fill_missing(session=session, now=now)
    scoring.score_snapshots(now=now)
