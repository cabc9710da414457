"""Studies of every kind with a trial, and answers to its examples."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.test import Client
from django.urls import reverse

from annotation.labelling.kind import task_page_of
from annotation.labelling.trial import TrialKind
from annotation.models import Study
from tests.annotation.points import make_points_study
from tests.annotation.rated import make_rating_study
from tests.annotation.test_validation import make, make_judged
from tests.makers import give_consent, make_linking_study

JSON = {"Accept": "application/json"}


MAKERS: dict[str, Callable[..., Study]] = {
    "linking": lambda *people: make_linking_study(annotators=people, people_per_item=len(people)),
    "verification": lambda *people: make_points_study(annotators=people),
    "validation": lambda *people: make(people, make_judged(n=2), n=6, people_per_item=len(people)),
    "rating": lambda *people: make_rating_study(annotators=people),
}
"""A study for some people, by its kind."""
KINDS = tuple(MAKERS)


def kind_of(name: str) -> TrialKind[Any]:
    page = task_page_of(name)
    assert page.trial is not None
    return page.trial


def make_study(kind: str, *people, share: str | None = None, tries: int = 2) -> Study:
    study = MAKERS[kind](*people)
    give_consent(*people)
    study.state, study.has_trial, study.trial_tries = Study.State.OPEN, True, tries
    study.trial_pass_share = None if share is None else Decimal(share)
    study.save()
    return study


def address(study: Study, number: int = 0, act: str = "") -> str:
    if act:
        return reverse("annotation:trial-act", args=[study.uid, number, act])
    return (
        reverse("annotation:trial-example", args=[study.uid, number])
        if number
        else reverse("annotation:trial", args=[study.uid])
    )


def right_answers(study: Study, number: int, *, is_right: bool = True) -> list[dict[str, Any]]:
    """What the page sends to answer an example of the first try as expected, or not."""
    trial = kind_of(study.kind)
    tries = [trial.n_right is not None for trial in study.trials.all()]
    example = trial.examples(max(1, study.trials.count() or 1))[number - 1]
    values, sent = example.values, []
    assert len(tries) <= 3
    if study.kind == "linking":
        for uid, row in zip(trial.questions(example), values["insight"], strict=True):
            wrong = {"coverage": "none"} if row["coverage"] != "none" else {"coverage": "full", "line": 1}
            right = {"coverage": row["coverage"], **({"line": row["lines"][0]} if "lines" in row else {})}
            sent.append({"question": uid, **(right if is_right else wrong)})
    elif study.kind == "verification":
        right = {"grounded": values["grounded"], **({"keyness": values["keyness"]} if "keyness" in values else {})}
        wrong = {"grounded": "no"} if values["grounded"] == "yes" else {"grounded": "yes", "keyness": "agree"}
        sent.append(right if is_right else wrong)
    elif study.kind == "validation":
        sent.append({"answer": values["answer"] if is_right else {"yes": "no"}.get(values["answer"], "yes")})
    else:
        sent.append({a: values[a][0] if is_right else 6 - values[a][0] for a in trial.questions(example)})
    return sent


def answer_all(client: Client, study: Study, *, is_right: bool = True) -> list[dict[str, Any]]:
    replies = []
    trial = kind_of(study.kind)
    for number in range(1, len(trial.examples(study.trials.count() or 1)) + 1):
        for data in right_answers(study, number, is_right=is_right):
            response = client.post(address(study, number, "choice"), data, headers=JSON)
            assert response.status_code == 200, response.content
            replies.append(response.json())
    return replies
