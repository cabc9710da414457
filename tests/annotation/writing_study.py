"""A new writing study by its verbs and by its form."""

from datetime import datetime
from typing import Any

from annotation.models import Study, WritingPlan
from annotation.studies import lifecycle
from annotation.studies.lifecycle import Details
from annotation.writing import planning
from tests.makers import NOW, make_haystack


def new_study(by, **changes) -> Study:
    haystack = changes.pop("haystack", None) or make_haystack()
    values: dict[str, Any] = {
        "details": Details(name="Ferry"),
        "plan": WritingPlan(),
        "subtopics": haystack.subtopics.all(),
        "guidelines": "Report what repeats.",
        "by": by,
        "now": NOW,
    }
    return planning.create_study(**{**values, **changes})


def update_plan(*, study: Study, plan: WritingPlan, by, now: datetime) -> Study:
    """Change only the plan."""
    details = Details(**lifecycle.details_of(study))
    subtopics = list(study.writing_plan.subtopics.all())
    return planning.update_study(study=study, details=details, plan=plan, subtopics=subtopics, by=by, now=now)


def form_data(**changes) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": "Ferry",
        "setting": "oracle",
        "token_budget": "15000",
        "limit_minutes": "120",
        "mark_minutes": "10",
        "sessions_per_subtopic": "2",
        "preset": "assisted",
        "show_hit_counts": "on",
        "paste_policy": "block",
        "disconnect_policy": "keep_running",
        "hourly_rate": "25",
        "currency": "USD",
        "guidelines": "Report\r\nwhat repeats.",
    }
    return {**data, **changes}
