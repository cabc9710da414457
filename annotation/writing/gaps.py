"""What a writing study lacks: sessions without a writer, and people without a subtopic."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.models import Study
from annotation.studies.gaps import Blocked, Holding, Reason, held_by_absent, idle_people
from annotation.writing.assigning import Eligibility, eligibility_of


@dataclass(frozen=True)
class SessionGaps:
    """What a writing study lacks: sessions that nobody has, and people who may be given no subtopic."""

    study: Study

    def n_short(self) -> int:
        """How many sessions that are planned nobody has."""
        plan, of_study = self.study.writing_plan, Q(assignments__in=self.study.assignments.live().order_by())
        have = plan.subtopics.order_by().annotate(n=Count("assignments", filter=of_study))
        return sum(max(0, plan.sessions_per_subtopic - n) for n in have.values_list("n", flat=True))

    def blocked(self) -> list[Blocked]:
        """With every reason."""
        idle = idle_people(self.study)  # one query where everybody has a task
        return blocked_in(eligibility_of(self.study, idle, ())) if idle else []

    def held(self) -> list[Holding]:
        return held_by_absent(self.study)


def blocked_in(table: Eligibility) -> list[Blocked]:
    """The same, where who may be given what is known."""
    at_work = {person for person, _subtopic in table.live}
    people_blocked = []
    for annotator in table.annotators:
        groups = [[table.obstacles[annotator.pk, pk] for pk in group] for group in table.needed]
        if annotator.pk not in at_work and any(rows and all(rows) for rows in groups):
            texts = dict.fromkeys(obstacle.text for rows in groups for row in rows for obstacle in row)
            people_blocked.append(Blocked(annotator, tuple(map(Reason, texts))))
    return people_blocked
