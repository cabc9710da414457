"""What a person prefers is in one place, checked, and theirs alone; keys of one's own never collide."""

import json
import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotation.labelling.kind import task_page_of
from annotation.labelling.task_page import COMMON, FIXED, Key, keys_in_use, own_keys, problems_of, usual_of
from annotation.models import Annotator
from annotation.studies.rhythm import NotPreferences, Preferences, prefer, preferences_of
from tests.annotation.points import make_points_study
from tests.makers import annotator_of, label_task, label_url, make_haystack, make_linking_study, make_session

JSON = {"Accept": "application/json"}
CHARACTERS = st.characters(min_codepoint=33, max_codepoint=126)


def chosen(person) -> Preferences:
    return preferences_of(annotator_of(person))


def test_choices_stay_until_they_are_changed_and_only_what_differs_is_stored(ben) -> None:
    prefer(annotator=annotator_of(ben), text_size="large")
    prefer(annotator=annotator_of(ben), goes_on=True)
    assert (chosen(ben).text_size, chosen(ben).goes_on) == ("large", True)
    assert annotator_of(ben).preferences == {"text_size": "large", "goes_on": True}
    prefer(annotator=annotator_of(ben), text_size="normal", goes_on=False)
    assert annotator_of(ben).preferences == {}


@pytest.mark.parametrize("wrong", [{"text_size": "huge"}, {"goal_items": 0}, {"no_such": 1}])
def test_what_does_not_fit_is_refused_and_changes_nothing(ben, wrong: dict[str, Any]) -> None:
    with pytest.raises(NotPreferences):
        prefer(annotator=annotator_of(ben), **wrong)
    assert annotator_of(ben).preferences == {}


def test_stored_choices_that_make_no_sense_any_more_count_as_none(ben) -> None:
    Annotator.objects.filter(user=ben).update(preferences={"text_size": "gigantic"})
    assert chosen(ben) == Preferences()


def test_a_page_of_work_changes_one_switch_at_a_time(ben, as_ben) -> None:
    address = reverse("annotation:prefer")
    assert as_ben.post(address, {"goes_on": "1"}, headers=JSON).json() == {"goes_on": True}
    assert as_ben.post(address, {"shows_pace": "0"}).status_code == 302
    assert as_ben.post(address, {"shows_pace": "perhaps"}, headers=JSON).status_code == 400
    assert (chosen(ben).goes_on, chosen(ben).shows_pace) == (True, False)


def test_going_on_by_itself_is_switched_for_a_kind_of_work_alone(ben, as_ben) -> None:
    make_points_study(annotators=[ben])
    make_linking_study(annotators=[ben])
    address = reverse("annotation:preferences")
    assert as_ben.post(reverse("annotation:prefer"), {"goes_on-linking": "1"}, headers=JSON).status_code == 200
    assert as_ben.get(address).context["form"]["goes_on_in"].value() == ["linking"]
    as_ben.post(address, {"text_size": "normal", "has_keys": "on", "goes_on_in": "verification"})
    assert [chosen(ben).of_kind(kind).goes_on for kind in ("linking", "verification")] == [False, True]


def test_the_form_takes_one_goal_and_no_two(ben, as_ben) -> None:
    address = reverse("annotation:preferences")
    both = as_ben.post(address, {"text_size": "normal", "goal_items": "5", "goal_minutes": "5"})
    assert both.status_code == 422
    assert "not both" in both.text
    assert as_ben.post(address, {"text_size": "largest", "goal_minutes": "90"}).status_code == 302
    assert (chosen(ben).goal_minutes, chosen(ben).text_size, chosen(ben).suggests_breaks) == (90, "largest", False)


def test_the_size_of_texts_is_in_the_page_that_the_server_sends(ben, as_ben) -> None:
    study = make_points_study(annotators=[ben])
    session = make_session(annotator=ben, state="running", now=timezone.now())
    prefer(annotator=annotator_of(ben), text_size="large")
    for page in (
        label_url("label-task", label_task(study, ben)),
        reverse("annotation:session", args=[session.uid]),
    ):
        assert 'data-text-size="large"' in as_ben.get(page).text


def keys_page(client, kind: str, **wanted: str):
    return client.post(reverse("annotation:own-keys", args=[kind]), wanted)


def test_own_keys_stand_on_buttons_and_in_the_guidelines_and_scripts_know_them(ben, as_ben) -> None:
    study = make_points_study(annotators=[ben])
    assert keys_page(as_ben, "verification", found="g", missing="y", undo="z").status_code == 302
    page = as_ben.get(label_url("label-task", label_task(study, ben))).text
    assert re.search(r"yes\s*<kbd>g</kbd>", page)
    assert re.search(r"no\s*<kbd>y</kbd>", page)
    assert "<kbd>z</kbd>" in page
    config = json.loads(re.search(r'data-config="([^"]+)"', page)[1].replace("&quot;", '"'))
    assert config["keys"] == {"y": "n", "n": "", "u": "", "g": "y", "z": "u"}
    keys_page(as_ben, "verification", reset="1")
    assert chosen(ben).keys == {}


@pytest.mark.parametrize(
    ("kind", "wanted", "problem"),
    [
        ("verification", {"found": "n"}, "is taken"),
        ("verification", {"undo": "d"}, "something else"),
        ("verification", {"undo": "x"}, "is taken"),
        ("linking", {"unsure": "q"}, "something else"),
        ("validation", {"no": "y"}, "something else"),
        ("rating", {"next": "?"}, "something else"),
    ],
)
def test_a_key_that_does_something_else_is_refused_and_nothing_is_stored(
    ben, as_ben, kind: str, wanted: dict[str, str], problem: str
) -> None:
    refused = keys_page(as_ben, kind, **wanted)
    assert refused.status_code == 422
    assert problem in refused.text
    assert chosen(ben).keys == {}


def test_a_key_that_does_the_same_already_may_become_the_first(ben, as_ben) -> None:
    assert keys_page(as_ben, "validation", yes="y", no="n").status_code == 302
    assert chosen(ben).keys == {"validation": {"yes": "y", "no": "n"}}


def test_keys_of_one_kind_leave_those_of_another_alone(ben, as_ben) -> None:
    keys_page(as_ben, "verification", undo="z")
    keys_page(as_ben, "rating", undo="b")
    assert chosen(ben).keys == {"verification": {"undo": "z"}, "rating": {"undo": "b"}}


def test_the_letters_of_bullets_are_no_keys_to_choose(ben, as_ben) -> None:
    study = make_linking_study(annotators=[ben], haystack=make_haystack())
    page = as_ben.get(label_url("label-task", label_task(study, ben)))
    linking = task_page_of("linking")
    assert {bullet.key for bullet, _used_by in page.context["bullets"] if bullet.key} <= set(linking.fixed_keys)


@given(wanted=st.dictionaries(st.sampled_from([key.name for key in COMMON]), CHARACTERS))
def test_keys_without_a_problem_mean_one_thing_each_and_usual_ones_stay_where_nobody_moved_them(
    wanted: dict[str, str],
) -> None:
    own = own_keys(COMMON, wanted)
    if problems_of(COMMON, own, fixed=FIXED):
        return
    used, usual = keys_in_use(COMMON, own), usual_of(COMMON, own)
    assert len(set(used.values())) == len(COMMON)
    assert not set(own.values()) & set(FIXED)
    for key in COMMON:
        pressed = used[key.name]
        assert usual.get(pressed, pressed) == key.usual
        if key.usual not in used.values():
            assert usual[key.usual] == ""


def test_two_keys_may_change_places() -> None:
    pair = (Key("yes", "y", "yes"), Key("no", "n", "no"))
    own = own_keys(pair, {"yes": "n", "no": "y"})
    assert problems_of(pair, own, fixed="") == {}
    assert usual_of(pair, own) == {"y": "n", "n": "y"}
