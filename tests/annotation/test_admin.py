"""The admin shows every table of the app and changes hardly any."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from tests.makers import annotator_of, make_assignment, make_haystack, make_session, make_writing_study

MODELS = [model for model in apps.get_app_config("annotation").get_models() if not model._meta.auto_created]


@pytest.fixture
def rows(ben) -> None:
    make_session(assignment=make_assignment(annotator=ben), state="submitted", revisions=[(1000, "- A. [1]")])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.model_name)
def test_every_table_has_a_list_for_admins(eve, as_eve, rows: None, model) -> None:
    assert admin.site.is_registered(model)
    eve.is_superuser = True
    eve.save()
    name = f"admin:annotation_{model._meta.model_name}"
    assert as_eve.get(reverse(f"{name}_changelist")).status_code == 200
    assert as_eve.get(reverse(f"{name}_add")).status_code == 403


def test_accommodations_can_be_mended_and_plans_cannot(eve, as_eve, ben) -> None:
    eve.is_superuser = True
    eve.save()
    person = annotator_of(ben)
    url = reverse("admin:annotation_annotator_change", args=[person.pk])
    data = {"label": "Ben", "limit_factor": "1.50", "may_paste": "on", "accommodation_note": "dictates"}
    assert as_eve.post(url, data).status_code == 302
    person.refresh_from_db()
    assert (str(person.limit_factor), person.may_paste) == ("1.50", True)
    plan = make_writing_study(haystack=make_haystack(key="other")).writing_plan
    assert (
        as_eve.post(reverse("admin:annotation_writingplan_change", args=[plan.pk]), {"limit_ms": 1}).status_code
        == 403
    )
