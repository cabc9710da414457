"""Which verified key points are kept: rules, retention by hand, versions, and the page that records them."""

import hashlib
import json
import random

import numpy as np
import pytest
from django.urls import reverse

from annotation.adjudication.decisions import DecisionRefused
from annotation.models import DatasetVersion, Study
from annotation.results.table import Rater
from annotation.verification import datasets, review
from annotation.verification.labels import PointTable, collect
from benchmarks.models import AuditEvent
from benchmarks.scoring.retention import Outcome, Rule, decide
from tests.makers import NOW
from tests.makers_verification import make_questions, make_verification_study, say_all

PEOPLE = ("anna", "bert", "cora")
#       anna bert cora
ROWS = ["AAA", "AAD", "Axx", "A.x", "...", "NNN"]


@pytest.fixture
def study(ada) -> Study:
    """Three questions of two points; answers as in ROWS."""
    made = make_verification_study(
        annotators=PEOPLE, questions=make_questions(3, autods=[0.9, 0.4]), for_all=True, researcher=ada
    )
    say_all(made, ROWS)
    return made


def keys(study: Study, *names: str) -> list[str]:
    who = {member.annotator.label: str(member.annotator.uid) for member in study.memberships.all()}
    return [who[name] for name in names]


@pytest.mark.parametrize(
    ("chosen", "rule", "outcomes", "kept"),
    [
        (PEOPLE, Rule.UNANIMOUS, "kept dropped dropped dropped unlabelled dropped", (1, 5)),
        (PEOPLE, Rule.MAJORITY, "kept kept dropped tied unlabelled dropped", (2, 5)),
        (PEOPLE, Rule.ADJUDICATED, "kept unresolved unresolved unresolved unlabelled dropped", (1, 2)),
        (("anna",), Rule.UNANIMOUS, "kept kept kept kept unlabelled dropped", (4, 5)),
        (("anna", "bert"), Rule.UNANIMOUS, "kept kept dropped kept unlabelled dropped", (3, 5)),
    ],
)
def test_the_rules_keep_what_was_worked_out_by_hand(
    study: Study, chosen: tuple[str, ...], rule: Rule, outcomes: str, kept: tuple[int, int]
) -> None:
    found = datasets.build(collect(study), datasets.Choice(tuple(keys(study, *chosen)), rule))
    assert found.outcomes == tuple(outcomes.split())
    whole = found.overall()
    assert (whole.n_kept, whole.n_decided, whole.n) == (*kept, 6)
    assert whole.share.value == pytest.approx(kept[0] / kept[1])


def test_a_threshold_leaves_out_what_scores_less_and_keeps_what_has_no_score(study: Study) -> None:
    choice = datasets.Choice(tuple(keys(study, "anna")), threshold=0.5)
    found = datasets.build(collect(study), choice)
    assert found.outcomes == ("kept", "filtered", "kept", "filtered", "unlabelled", "dropped")
    assert (found.overall().n_kept, found.overall().n_decided) == (2, 5)
    table = collect(study)
    table.autods[:] = np.nan
    assert datasets.build(table, choice).overall().n_kept == 4


def test_adjudications_decide_under_their_rule_alone_and_never_enter_agreement(study: Study, ada) -> None:
    point = study.label_items.order_by("pk")[1].key_point
    before = collect(study)
    how = {"study": study, "key_point": point, "by": ada, "now": NOW}
    review.adjudicate(grounded="yes", keyness="agree", note="stands there", **how)
    made = datasets.adjudications(study)
    for rule, outcome in ((Rule.UNANIMOUS, "dropped"), (Rule.ADJUDICATED, "kept")):
        choice = datasets.Choice(tuple(keys(study, *PEOPLE)), rule)
        assert datasets.build(collect(study), choice, adjudicated=made).outcomes[1] == outcome
    after = collect(study)
    assert (before.grounded == after.grounded).all()
    assert (before.keyness == after.keyness).all()
    first = study.point_adjudications.get()
    assert review.adjudicate(grounded="yes", keyness="agree", note="stands there", **how) == first
    second = review.adjudicate(grounded="no", **how)
    assert (second.supersedes, study.point_adjudications.count()) == (first, 2)
    assert datasets.adjudications(study) == {point.pk: False}
    with pytest.raises(DecisionRefused, match="After a yes"):
        review.adjudicate(grounded="no", keyness="agree", **how)
    with pytest.raises(DecisionRefused, match="does not verify"):
        review.adjudicate(
            grounded="no", **how | {"key_point": make_questions(1, dataset="x")[0].key_points.first()}
        )


def test_the_arrays_decide_as_the_rules_do_one_by_one() -> None:
    rng, n, k = random.Random(3), 300, 4
    grounded = np.array([[rng.choice([-1, 0, 0, 1]) for _ in range(k)] for _ in range(n)])
    keyness = np.array([[rng.choice([-1, 0, 0, 1, 2]) for _ in range(k)] for _ in range(n)])
    people = tuple(Rater(name, name, name) for name in "abcd")
    none = np.full(n, np.nan)
    table = PointTable(
        points=tuple(range(n)),
        items=tuple(map(str, range(n))),
        questions=np.arange(n) // 5,
        categories=("",) * n,
        domains=("",) * n,
        is_control=np.ones(n, dtype=bool),
        autods=none,
        people=people,
        grounded=grounded,
        keyness=keyness,
        seconds=np.full((n, k), np.nan),
    )

    def answer(at: int, who: int) -> str | None:
        first, second = int(grounded[at, who]), int(keyness[at, who])
        if first == 1:
            return "drop"
        if first == -1 or second == -1:
            return None
        return "keep" if second == 0 else "drop"

    decided = {at: bool(at % 2) for at in range(0, n, 7)}
    for rule in Rule:
        pure = [
            decide([answer(at, who) for who in (0, 2, 3)], rule, adjudicated=decided.get(at)) for at in range(n)
        ]
        found = datasets.build(table, datasets.Choice(("a", "c", "d"), rule), adjudicated=decided)
        assert found.outcomes == tuple(pure)
        n_decided = n - pure.count(Outcome.UNLABELLED) - pure.count(Outcome.UNRESOLVED)
        assert found.overall().share.value == pytest.approx(pure.count(Outcome.KEPT) / n_decided)
        assert (found.overall().n_decided, found.overall().share.n_clusters) == (n_decided, 60)
        assert found.overall().share.low < found.overall().share.value < found.overall().share.high
    assert Outcome.UNLABELLED in pure


def test_a_choice_is_a_version_and_labels_of_the_others_stay(study: Study, ada) -> None:
    n = study.pointlabels.count()
    version = datasets.choose(
        study=study, annotators=keys(study, "anna", "bert"), note="they agree", selection_seed=4, by=ada, now=NOW
    )
    assert version.number == 1
    found = datasets.dataset_of(study)
    assert [one.name for one in found.chosen] == ["anna", "bert"]
    assert (found.choice.number, study.pointlabels.count()) == (1, n)
    assert AuditEvent.objects.get(action="dataset.chosen").detail["version"] == 1
    with pytest.raises(datasets.NotInStudy):
        datasets.choose(study=study, annotators=[], by=ada, now=NOW)
    stranger = make_verification_study(name="Other", questions=[], annotators=("zoe",))
    with pytest.raises(datasets.NotInStudy):
        datasets.choose(study=study, annotators=keys(stranger, "zoe"), by=ada, now=NOW)
    assert DatasetVersion.objects.count() == 1


def test_the_page_tries_a_choice_without_recording_it_and_records_it_when_asked(study: Study, ada, as_ada) -> None:
    here = reverse("annotation:verification-dataset", args=[study.uid])
    assert "1 / 5" in as_ada.get(here).text
    both = keys(study, "anna", "bert")
    tried = as_ada.get(here, {"annotators": both, "rule": "unanimous", "autods_threshold": ""}).text
    assert "3 / 5" in tried
    assert "not recorded" in tried
    assert not study.dataset_versions.exists()
    assert "3 / 5" in as_ada.get(here, {"annotators": both, "selection_seed": "7"}).text
    url = reverse("annotation:verification-choose", args=[study.uid])
    data = {"annotators": both, "rule": "unanimous", "selection_seed": "7", "note": "best on the half"}
    assert as_ada.post(url, data).status_code == 302
    version = study.dataset_versions.get()
    assert (version.selection_seed, version.made_by, version.annotators.count()) == (7, ada, 2)
    after = as_ada.get(here).text
    assert "Version 1 of the dataset" in after
    assert "best on the half" in after
    assert as_ada.post(url, {"rule": "unanimous"}).status_code == 422
    assert as_ada.get(here, {"annotators": both, "rule": "sometimes"}).status_code == 422
    study.pointlabels.filter(annotator__label="anna").delete()
    assert "not recorded" in as_ada.get(here, {"autods_threshold": "0.5"}).text


def test_the_page_and_the_command_write_the_same_bytes(study: Study, as_ada, tmp_path) -> None:
    from django.core.management import call_command

    call_command("export_dataset", "long2rag", "--study", study.name, "--out", str(tmp_path / "x.jsonl"))
    url = reverse("annotation:verification-dataset-file", args=[study.uid, "dataset.jsonl"])
    assert b"".join(as_ada.get(url).streaming_content) == (tmp_path / "x.jsonl").read_bytes()


@pytest.mark.django_db
def test_the_pages_of_an_empty_study_say_what_comes_next(ada, as_ada) -> None:
    empty = make_verification_study(questions=make_questions(1), annotators=(), researcher=ada)
    for name, words in (
        ("verification-dataset", "No labels yet"),
        ("study-figures", "No labels yet"),
        ("verification-choosing", "No sets to rank"),
        ("verification-autods", "No scores"),
        ("disagreements", "There are no labels yet"),
        ("verification-spot-checks", "There are no labels to check yet"),
    ):
        response = as_ada.get(reverse(f"annotation:{name}", args=[empty.uid]))
        assert (response.status_code, words in response.text) == (200, True), name


def test_a_study_on_two_question_sets_with_the_same_keys_has_its_files(ada, as_ada) -> None:
    questions = [*make_questions(2), *make_questions(2, dataset="bridges")]
    study = make_verification_study(questions=questions, annotators=["anna"], researcher=ada, for_all=True)
    say_all(study, ["A"] * 8)
    page = reverse("annotation:verification-dataset", args=[study.uid])

    def file(name: str, **query: str):
        return as_ada.get(reverse("annotation:verification-dataset-file", args=[study.uid, name]), query)

    assert len(file("kept.csv").getvalue().decode().splitlines()) == 9
    assert as_ada.get(reverse("annotation:study-labels", args=[study.uid, "csv"])).status_code == 200
    shown = as_ada.get(page).text
    for name in ("harbours", "bridges"):
        assert f"dataset.jsonl?dataset={name}" in shown
        lines = [json.loads(line) for line in file("dataset.jsonl", dataset=name).getvalue().splitlines()]
        assert len(lines) == 2
        told = json.loads(file("manifest.json", dataset=name).content)
        assert told["filters"] == {"dataset": name}
        assert told["sha256"] == hashlib.sha256(file("dataset.jsonl", dataset=name).getvalue()).hexdigest()
    assert file("dataset.jsonl").headers["Location"] == page
    assert "each set has a file of its own: bridges, harbours" in as_ada.get(page).text
    assert file("dataset.jsonl", dataset="nothing").status_code == 404
