"""What the stories of recruitment and deletion find: an admin, a link of a panel, and somebody who wrote a text.

Gives the addresses.
"""

from django.utils import timezone

from annotation.people.recruitment import links
from annotation.writing import scoring
from tests import makers
from tests.e2e.scene import person

TEXT = "- Zebedee counts nine boats before dawn. [1]"
CODE = "THANKS-7"


def prepare() -> dict[str, str]:
    """Make eve, a linking study with an open link, and a writing study in which zoe handed in a text."""
    now = timezone.now()
    person("eve", "admin")
    zoe = person("zoe")
    panel = makers.make_linking_study(
        haystack=makers.make_haystack(key="panel", title="Ferries of a panel", now=now),
        name="Study panel",
        now=now,
    )
    values = {
        "panel": "prolific",
        "id_parameter": "PROLIFIC_PID",
        "max_places": 2,
        "max_tasks": 1,
        "completion_code": CODE,
        "return_url": "https://app.prolific.com/submissions/complete?cc=THANKS-7",
    }
    link = links.create_link(study=panel, values=values, by=None, now=now)
    links.set_open(link=link, is_open=True, by=None, now=now)
    written = makers.make_writing_study(
        haystack=makers.make_haystack(key="gone", title="Ferries gone", now=now), name="Study gone", now=now
    )
    task = makers.make_assignment(study=written, annotator=zoe, state="done", now=now)
    session = makers.make_session(assignment=task, state="submitted", revisions=[(9000, TEXT)], now=now)
    session.snapshots.create(mark_ms=9000, kind="final", text=TEXT, filled_by="submit", created_at=now)
    scoring.score_snapshots(now=now)
    return {"join": f"/join/{link.key}/", "study": str(written.uid), "person": str(zoe.uid)}
