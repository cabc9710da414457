"""What the story of sources finds: a researcher, somebody who rates, and later a study of what models wrote."""

import os
from typing import Any

from django.utils import timezone

from annotation.models import Annotator, RatingPlan
from annotation.rating.kind import create_study
from annotation.studies import lifecycle
from benchmarks.engine import versions
from benchmarks.models import Haystack, Summary
from tests import makers
from tests.e2e.scene import known, person
from tests.fake_openai import MODEL

DATASET, N_RATED = "harbours", 3


def prepare() -> dict[str, Any]:
    """Make both people, and a judge behind the server of the story."""
    now = timezone.now()
    person("ada", "researcher")
    makers.give_consent(person("ruth"), now=now)
    config = {"base_url": os.environ["OPENAI_BASE_URLS"], "model": MODEL}
    versions.ensure_judge(name="owl", kind="openai", config=config, now=now)
    return {}


def rate() -> dict[str, Any]:
    """Have Ruth rate what was written on some of the sources."""
    now, ada = timezone.now(), known("ada")
    sources = Haystack.objects.filter(dataset=DATASET).order_by("key")[:N_RATED]
    study = create_study(
        details=lifecycle.Details(name="Harbours rated", contact="study@example.org"),
        plan=RatingPlan(people_per_item=1),
        summaries=Summary.objects.filter(haystack__in=list(sources)).order_by("pk"),
        guidelines="Use the whole scale.",
        annotators=[Annotator.objects.get(label="Ruth")],
        researchers=[],
        by=ada,
        now=now,
    )
    lifecycle.open_study(study=study, by=ada, now=now)
    return {"n": study.label_tasks.count()}
