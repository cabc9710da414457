"""What the stories of newcomers find: a corpus to practise on, a link for each kind of label work and for writing.

Gives the addresses. The study of validation asks for two of three right answers in its trial.
"""

from decimal import Decimal

from django.utils import timezone

from annotation.models import RatingPlan, Study, ValidationPlan, VerificationPlan
from annotation.people.recruitment import links
from annotation.rating.kind import create_study as rate
from annotation.studies import consent, lifecycle
from annotation.validation import items
from annotation.verification.items import create_study as verify
from tests import makers
from tests.annotation.points import make_points_question
from tests.annotation.test_validation import make_judged
from tests.e2e.scene import person


def prepare() -> dict[str, str]:
    """Make ada, the studies with a trial, and their links."""
    now = timezone.now()
    consent.ensure_default_consent(now=now)
    ada = person("ada", "researcher")
    makers.make_haystack(key="practice", title="Practice", is_practice=True, now=now)

    def details(name: str) -> lifecycle.Details:
        return lifecycle.Details(name=name, contact="study@example.org")

    rated = makers.make_haystack(key="rated", title="Ferries to rate", now=now).subtopics.order_by("number")
    studies: dict[str, Study] = {
        "linking": makers.make_linking_study(
            haystack=makers.make_haystack(key="links", title="Ferries to link", now=now),
            name="Study linking", researcher=ada, now=now,
        ),
        "rating": rate(
            plan=RatingPlan(), summaries=[makers.make_summary(subtopic=subtopic, now=now) for subtopic in rated],
            details=details("Study rating"), guidelines="Read.", by=ada, now=now,
        ),
        "verification": verify(
            plan=VerificationPlan(), questions=[make_points_question(key="trial", now=now)],
            details=details("Study verification"), guidelines="Read.", by=ada, now=now,
        ),
        "validation": items.create_study(
            plan=ValidationPlan(judge=make_judged(n=2)), n=6, details=details("Study validation"),
            guidelines="Read.", by=ada, now=now,
        ),
        "writing": makers.make_writing_study(
            haystack=makers.make_haystack(key="texts", title="Ferries to write on", now=now),
            name="Study writing", researcher=ada, now=now,
        ),
    }  # fmt: skip
    addresses = {}
    for kind, study in studies.items():
        study.researchers.add(ada)
        study.state, study.has_trial = Study.State.OPEN, kind != "writing"
        study.trial_pass_share = Decimal("0.6") if kind == "validation" else None
        study.save()
        values = {"panel": "prolific", "id_parameter": "PROLIFIC_PID", "max_places": 6, "max_tasks": 2}
        values["completion_code"] = "THANKS"
        link = links.create_link(study=study, values=values, by=ada, now=now)
        links.set_open(link=link, is_open=True, by=ada, now=now)
        addresses[kind], addresses[f"{kind}-uid"] = f"/join/{link.key}/", str(study.uid)
    return addresses
