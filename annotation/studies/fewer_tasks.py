"""How many tasks people have, and who has fewer than before until they have read so: some were passed on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django.db.models import Count

from annotation.models import Assignment, Membership, Study


def task_counts(study: Study) -> Counter[int]:
    """{annotator pk: how many tasks of the study they have, whatever became of them}, without withdrawn ones."""
    counts: Counter[int] = Counter()
    for rows in (study.label_tasks.all(), Assignment.objects.live().filter(study=study)):
        counts.update(dict(rows.order_by().values_list("annotator").annotate(n=Count("pk"))))
    return counts


def note_fewer(*, study: Study, before: Mapping[int, int]) -> None:
    """Remember how many tasks those had `before` who have fewer now; the most, if it happened more than once.

    Nobody has seen the tasks of a study that is not open, and who left knows.
    """
    if study.state != Study.State.OPEN:
        return
    after = task_counts(study)
    fewer = [person for person, n in before.items() if after[person] < n]
    for member in study.memberships.current().filter(annotator__in=fewer):
        member.n_tasks_before = max(before[member.annotator_id], member.n_tasks_before or 0)
        member.save(update_fields=["n_tasks_before"])


def have_read(*, membership: Membership) -> None:
    """They have read it; the number of tasks that they have is the one they know."""
    membership.n_tasks_before = None
    membership.save(update_fields=["n_tasks_before"])
