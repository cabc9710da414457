"""What the story of rating finds: two summaries of one question, and a person to rate them.

Gives the study's id.
"""

from django.utils import timezone

from annotation.models import RatingPlan
from annotation.rating.kind import create_study
from annotation.studies import lifecycle
from tests import makers
from tests.e2e.scene import known, person


def prepare() -> dict[str, str]:
    """Make the study and its person."""
    now = timezone.now()
    ruth, ada = person("ruth").annotator, known("ada")
    subtopic = makers.make_haystack(key="rated", title="Rated", now=now).subtopics.get(number=1)
    study = create_study(
        details=lifecycle.Details(name="Study rated", contact="study@example.org"),
        plan=RatingPlan(people_per_item=1),
        summaries=[
            makers.make_summary(subtopic=subtopic, system=name, now=now) for name in ("secret-a", "secret-b")
        ],
        guidelines="Use the whole scale.",
        annotators=[ruth],
        researchers=[],
        by=ada,
        now=now,
    )
    lifecycle.open_study(study=study, by=ada, now=now)
    makers.give_consent(ruth, now=now)
    return {"study": str(study.uid)}
