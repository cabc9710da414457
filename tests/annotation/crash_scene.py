"""Processes for `test_session_crash`: python -m tests.annotation.crash_scene VERB [SESSION]; one line a result."""

import json
import sys
from datetime import timedelta

import django

django.setup()

from django.contrib.auth import get_user_model  # noqa: E402  the app registry comes first
from django.utils import timezone  # noqa: E402

from annotation.models import Annotator, DraftRevision, Session, Snapshot  # noqa: E402
from annotation.writing import drafting, settling  # noqa: E402
from annotation.writing.drafting import Draft, Message  # noqa: E402
from tests.annotation.writer import start_session  # noqa: E402

N_SHARED = 40
LINE = "- a line of the summary [1, 2]\n"


def say(value: object) -> None:
    """Print at once, so that a reader knows what was acknowledged before a kill."""
    print(json.dumps(value), flush=True)


def prepare() -> None:
    """Make a person and start their session an hour ago, as if nobody had looked since."""
    user = get_user_model().objects.create_user(username="ben", password=None)
    Annotator.objects.create(user=user, label="Ben", created_at=timezone.now())
    session = start_session(user)
    began = timezone.now() - timedelta(hours=1)
    Session.objects.filter(pk=session.pk).update(
        started_at=began, run_started_at=began, clock_hwm=began, last_seen_at=began, next_due_at=began
    )
    session.periods.update(started_at=began)
    say(session.pk)


def save(session: Session) -> None:
    """Save without end; each line printed is a revision that the server has answered for."""
    rev = session.draft_rev
    while True:
        draft = Draft(op_id=f"op-{rev + 1}", base_rev=rev, text=LINE * (rev + 1))
        status = drafting.save(session=session, message=Message("tab", draft), now=timezone.now())
        rev = status.rev or 0
        say(rev)


def share(session: Session) -> None:
    """Send the same operations as another process does at the same time."""
    for rev in range(N_SHARED):
        draft = Draft(op_id=f"shared-{rev}", base_rev=rev, text=f"text {rev}")
        status = drafting.save(session=session, message=Message("tab", draft), now=timezone.now())
        say(status.rev)


def sweep(session: Session) -> None:
    """Be one of two beats at the same time."""
    for minutes in range(0, 90, 2):
        settling.settle_due(now=timezone.now() + timedelta(minutes=minutes))
    say("done")


def look(session: Session) -> None:
    """Print what is stored."""
    revisions = DraftRevision.objects.filter(session=session, accepted=True).order_by("rev")
    say(
        {
            "revs": list(revisions.values_list("rev", flat=True)),
            "lengths": [len(text) for text in revisions.values_list("text", flat=True)],
            "active": list(revisions.values_list("active_ms", flat=True)),
            "rejected": DraftRevision.objects.filter(session=session, accepted=False).count(),
            "draft_rev": session.draft_rev,
            "draft_length": len(session.draft_text),
            "state": session.state,
            "marks": list(
                Snapshot.objects.filter(session=session).order_by("mark_ms").values_list("mark_ms", flat=True)
            ),
        }
    )


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare()
    else:
        {"save": save, "share": share, "sweep": sweep, "look": look}[sys.argv[1]](
            Session.objects.get(pk=int(sys.argv[2]))
        )
