"""What the story of charts finds: a study whose labels two people made, and three judges.

Gives the study's id.
"""

from django.test import override_settings
from django.utils import timezone

from annotation.coverage.look import Look
from annotation.coverage.page import AGREEMENT
from benchmarks.results.stored import look_up
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.e2e.scene import known


def prepare() -> dict[str, str]:
    """Make the study, of which ada is the researcher, and compute its agreement, as a worker would."""
    study = make_labelled_study(
        summaries=make_summaries(), judges=("ash", "<b>elm</b>", "oak"), researcher=known("ada")
    )
    with override_settings(CELERY_TASK_ALWAYS_EAGER=True):
        for is_public in (False, True):  # the page, and its files
            look_up(AGREEMENT, Look(study=study.pk, is_public=is_public), now=timezone.now())
    return {"study": str(study.uid)}
