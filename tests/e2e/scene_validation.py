"""What the story of validation finds: a judge's verdicts on three points of two responses, and two people.

Gives the study's id.
"""

from django.utils import timezone

from annotation.models import ValidationPlan
from annotation.studies import lifecycle
from annotation.validation import items
from benchmarks.models import Judge, PointVerdict, Response, System
from tests import makers
from tests.e2e.scene import known, person
from tests.makers_verification import make_questions

TEXT = "Pier one is old. 𝒜 crane <b>stands</b> on it, and boats land there."


def prepare() -> dict[str, str]:
    """Make the study, its people and the verdicts: yes, no, neutral for each response."""
    now = timezone.now()
    people = [person(name).annotator for name in ("wanda", "wim")]
    judge = Judge.objects.create(name="Judge Dread", kind="imported", config_sha256="dread", created_at=now)
    system = System.objects.create(key="secret-system", summarizer="secret-system")
    for question in make_questions(2, n_points=3, dataset="judged", now=now):
        response = Response.objects.create(
            question=question, system=system, text=TEXT, text_sha256="x", n_words=12, created_at=now
        )
        for point, answer in zip(question.key_points.order_by("pk"), ("yes", "no", "neutral"), strict=True):
            PointVerdict.objects.create(
                judge=judge, premise="response", response=response, key_point=point, answer=answer, created_at=now
            )
    study = items.create_study(
        details=lifecycle.Details(name="Study judged", contact="study@example.org"),
        plan=ValidationPlan(judge=judge),
        n=6,
        guidelines="All of the point has to follow.",
        annotators=people,
        researchers=[],
        by=known("ada"),
        now=now,
    )
    lifecycle.open_study(study=study, by=known("ada"), now=now)
    makers.give_consent(*people, now=now)
    return {"study": str(study.uid)}
