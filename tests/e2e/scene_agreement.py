"""What the story of agreement finds: one subtopic, two systems' summaries, two people to link them, two judges.

And key points on which two people differ. Gives the ids of both studies.
"""

from django.utils import timezone

from benchmarks.models import Judge, Verdict
from tests import makers, makers_verification
from tests.e2e.scene import known, person


def prepare() -> dict[str, str]:
    """Make the study, its people and the verdicts: `strict` calls nothing covered, `kind` everything partly."""
    now = timezone.now()
    haystack = makers.make_haystack(
        key="decided", title="Ferries decided", golds=(((1, 2, 3), (2, 3, 4), (3, 5)),), now=now
    )
    subtopic = haystack.subtopics.get()
    summaries = [makers.make_summary(subtopic=subtopic, system=f"system-{name}", now=now) for name in "ab"]
    study = makers.make_linking_study(
        summaries=summaries,
        name="Study decided",
        researcher=known("ada"),
        annotators=[person(name) for name in ("olga", "otto")],
        people_per_item=2,
        now=now,
    )
    said = {"strict": ("none", []), "kind": ("partial", [4])}
    for name, (coverage, lines) in said.items():
        judge = Judge.objects.create(name=name, kind="imported", config_sha256=name, created_at=now)
        Verdict.objects.bulk_create(
            Verdict(
                judge=judge,
                summary=summary,
                insight=insight,
                coverage=coverage,
                lines=lines,
                is_linked=bool(lines),
                is_imported=True,
                created_at=now,
            )
            for summary in summaries
            for insight in subtopic.insights.all()
        )
    points = makers_verification.make_verification_study(
        questions=makers_verification.make_questions(1, dataset="decided", now=now),
        annotators=("Thea", "Thore"),
        name="Points decided",
        researcher=study.created_by,
        now=now,
    )
    makers_verification.say_all(points, ["Ax", "AN"])
    return {"study": str(study.uid), "points": str(points.uid)}
