"""What the story of systems finds: a researcher and a haystack of the demo's own writing, scored by nobody yet."""

import io
import json
from typing import Any

from django.utils import timezone

from benchmarks.io.schemas import summhay
from benchmarks.models import Haystack
from summhay_site.demo.cast import read
from tests.e2e.scene import person
from tests.taking_in import import_topic


def prepare() -> dict[str, Any]:
    """Make both; the haystack comes without summaries, verdicts and scores."""
    now = timezone.now()
    ada = person("ada", "researcher")
    topic = read("ferry.json")
    for subtopic in topic["subtopics"]:
        subtopic |= {"summaries": {}, "eval_summaries": {}, "retriever": {}}
    parsed = summhay.parse(io.BytesIO(json.dumps(topic).encode()), name="demo")
    import_topic(parsed, actor=ada, now=now, dataset="demo", judge_name="nobody")
    haystack = Haystack.objects.get()
    return {"title": haystack.title, "uid": str(haystack.uid), "n_subtopics": haystack.subtopics.count()}
