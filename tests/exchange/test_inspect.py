"""Logs of Inspect: what of a session is where, and scores that join a log."""

import json

import pytest

from annotation.models import CoverageLabel, Study
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.exchange.conftest import lines, named

MINUTE = 60_000


def test_samples_of_people_have_outcome_times_and_a_score_at_each_mark(study: Study, files) -> None:
    log = json.loads(named(files("inspect", "--study", "Ferries"), "logs/"))
    samples = {sample["metadata"]["person"]: sample for sample in log["samples"]}
    assert log["version"] == 2
    assert {person: sample["metadata"]["outcome"] for person, sample in samples.items()} == {
        "annotator1": "submitted",
        "annotator2": "timed_out",
        "annotator3": "quit",
        "annotator4": "voided",
        "annotator5": "withdrawn",
    }, "who is still at work, or has not begun, is not in it"
    late = samples["annotator2"]
    assert (late["working_time"], late["total_time"]) == (120 * 60, 150 * 60)
    assert late["metadata"]["paused_ms"] == 30 * MINUTE
    assert late["limit"] == {"type": "working", "limit": 120 * 60}
    curve = [late["scores"][f"at_{minute}_min"]["value"]["coverage"] for minute in (10, 20, 30)]
    assert curve == pytest.approx([1 / 3, 1 / 3, late["scores"]["coverage"]["value"]])
    assert samples["annotator5"]["scores"] == {}
    assert samples["annotator3"]["metadata"]["paused_ms"] == 3 * MINUTE
    counted = [
        samples[f"annotator{n}"]["scores"]["coverage"]["value"]
        for n in (1, 2, 5)
        if samples[f"annotator{n}"]["scores"]
    ]
    [coverage] = [score for score in log["results"]["scores"] if score["name"] == "coverage"]
    assert coverage["metrics"]["mean"]["value"] > min(counted)


def test_scores_of_people_join_the_log_of_a_system_by_sample(study: Study, files) -> None:
    found = files("inspect", "--judge", "lexical-2")
    log = json.loads(next(content for name, content in found.items() if "heron" in name and "logs" in name))
    scores = lines(next(content for name, content in found.items() if "heron" in name and "scores" in name))
    assert [(row["id"], row["epoch"], row["value"]["joint"]) for row in scores] == [
        (sample["id"], sample["epoch"], sample["scores"]["joint"]["value"]) for sample in log["samples"]
    ]


def test_labels_of_a_linking_study_are_scores_of_each_person(ada, files, db: None) -> None:
    study = make_labelled_study(summaries=make_summaries(n=4), researcher=ada)
    found = files("inspect", "--study", study.name)
    assert not [name for name in found if name.startswith("logs/")]
    rows = [row for name, content in found.items() if name.startswith("scores/") for row in lines(content)]
    labels = CoverageLabel.objects.for_figures().filter(study=study)
    assert sum(len(row["metadata"]["labels"]) for row in rows) == labels.count()
    worth = {"none": 0, "partial": 0.5, "full": 1}
    for row in rows:
        values = [worth[label] for label in row["metadata"]["labels"].values()]
        assert row["value"]["coverage"] == pytest.approx(sum(values) / len(values))
