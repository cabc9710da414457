"""Tables as Parquet, where pyarrow is installed; without it nothing offers them."""

import io
import zipfile
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from benchmarks.web import downloads
from benchmarks.web.downloads import is_available, kinds_of, parquet
from tests.annotation.labelled import make_labelled_study, make_summaries

needs_pyarrow = pytest.mark.skipif(not is_available(), reason="pyarrow is not installed")
ROWS: list[tuple[Any, ...]] = [
    ("a", 1, True, [1, 2], ["x"], 1.5, None, 3),
    (None, None, None, None, None, None, None, None),
    ("ü\n=1", -(2**40), False, [], [], Decimal("0.25"), None, "three"),
]


def read(data: bytes):
    return pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(data))


def test_columns_get_the_type_of_what_they_hold() -> None:
    assert kinds_of("abcdefgh", ROWS) == ["text", "whole", "truth", "wholes", "texts", "real", "text", "text"]
    assert kinds_of("ab", []) == ["text", "text"]
    assert kinds_of("a", [(1,), (2.5,)]) == ["real"]
    assert kinds_of("a", [(True,), (2,)]) == ["text"]


def test_a_column_of_times_holds_moments_where_all_are() -> None:
    moment = "2024-05-01T10:00:00+00:00"
    assert kinds_of(["made_at", "note"], [(moment, moment), ("", ""), (None, None)]) == ["moment", "text"]
    assert kinds_of(["made_at"], [(moment,), ("2024-05-01T10:00:00",)]) == ["text"]
    assert kinds_of(["made_at"], [(moment,), ("yesterday",)]) == ["text"]


@needs_pyarrow
def test_a_table_comes_back_as_it_went_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "GROUP", 2)
    names = list("abcdefgh")
    found = read(b"".join(parquet(names, lambda: ROWS)))
    assert found.column_names == names
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("a", 1, True, [1, 2], ["x"], 1.5, None, "3"),
        (None,) * 8,
        ("ü\n=1", -(2**40), False, [], [], 0.25, None, "three"),
    ]
    assert read(b"".join(parquet(names, list))).num_rows == 0


@needs_pyarrow
@pytest.mark.django_db
def test_labels_are_offered_beside_csv_and_in_the_archive(ada, as_ada) -> None:
    study = make_labelled_study(summaries=make_summaries(n=4), researcher=ada)
    address = reverse("annotation:study-labels", args=[study.uid, "parquet"])
    assert address in as_ada.get(reverse("annotation:study", args=[study.uid])).text
    labels = read(b"".join(as_ada.get(address).streaming_content))
    assert labels.num_rows == study.coveragelabels.count()
    assert labels["lines"].to_pylist() == list(study.coveragelabels.order_by("pk").values_list("lines", flat=True))
    assert str(labels.schema.field("made_at").type) == "timestamp[us, tz=UTC]"
    assert labels["made_at"].to_pylist() == list(
        study.coveragelabels.order_by("pk").values_list("made_at", flat=True)
    )
    archive = as_ada.get(reverse("annotation:study-archive-file", args=[study.uid]))
    with zipfile.ZipFile(io.BytesIO(b"".join(archive.streaming_content))) as opened:
        assert read(opened.read("ferry-links/labels.parquet")).equals(labels)


@pytest.mark.django_db
def test_without_the_library_it_is_not_there(ada, as_ada, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.studies.kind.is_available", lambda: False)
    study = make_labelled_study(summaries=make_summaries(n=2), researcher=ada)
    assert as_ada.get(reverse("annotation:study-labels", args=[study.uid, "parquet"])).status_code == 404
    assert "parquet" not in as_ada.get(reverse("annotation:study", args=[study.uid])).text
