"""How long summaries of sources are to be, on the pages of their dataset."""

from datetime import datetime

import pytest
from django.urls import reverse

from benchmarks.corpora import archiving
from benchmarks.models import AuditEvent, Haystack, SourceDataset
from tests.makers import make_haystack, url
from tests.taking_in import import_sources

pytestmark = pytest.mark.django_db
ADDRESS = url("source-task", "xsum")


@pytest.fixture(autouse=True)
def _sources(now: datetime) -> None:
    line = {"key": "a", "documents": ["One. Two."], "reference": "One."}
    import_sources([line], now=now, dataset="xsum")


def test_the_length_is_shown_and_changed(as_ada) -> None:
    listed = f"{reverse('benchmarks:corpora')}?dataset=xsum"
    assert "in 1 sentence and at most 64 new tokens" in " ".join(as_ada.get(listed).text.split())
    assert ADDRESS in as_ada.get(listed).text
    assert 'value="64"' in as_ada.get(ADDRESS).text
    answer = as_ada.post(ADDRESS, {"n_sentences": "3", "new_tokens": "128"}, follow=True)
    assert "in 3 sentences and at most 128 new tokens" in " ".join(answer.text.split())
    row = SourceDataset.objects.get()
    assert (row.n_sentences, row.new_tokens) == (3, 128)
    assert AuditEvent.objects.get(action="sources.task_changed").detail["n_sentences"] == 3


@pytest.mark.parametrize("wrong", [{"n_sentences": "0"}, {"n_sentences": "<b>"}, {"new_tokens": ""}])
def test_a_length_that_is_none_is_refused(as_ada, wrong: dict[str, str]) -> None:
    answer = as_ada.post(ADDRESS, {"n_sentences": "2", "new_tokens": "64", **wrong})
    assert (answer.status_code, SourceDataset.objects.get().n_sentences) == (422, 1)


def test_only_datasets_of_sources_have_a_length_and_annotators_see_none(as_ada, as_ben) -> None:
    make_haystack(dataset="plain")
    assert as_ada.get(url("source-task", "plain")).status_code == 404
    assert as_ada.get(url("source-task", "none")).status_code == 404
    assert as_ben.get(ADDRESS).status_code == 403


def test_the_length_goes_with_the_last_sources_of_its_dataset(eve, now: datetime) -> None:
    first = Haystack.objects.get(dataset="xsum")
    archiving.delete(haystack=make_haystack(dataset="xsum", is_source=True), actor=eve, now=now)
    assert SourceDataset.objects.get().name == "xsum"
    archiving.delete(haystack=first, actor=eve, now=now)
    assert not SourceDataset.objects.exists()
