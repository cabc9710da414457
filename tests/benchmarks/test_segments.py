"""Questions beside the segments of their documents, by embeddings of a server that counts words."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.io.schemas import long2rag
from benchmarks.recall.segments import segments
from tests.fake_openai import FakeServer
from tests.makers import NOW
from tests.running import json_of
from tests.taking_in import import_questions


@given(st.lists(st.text("ab ", min_size=1, max_size=9), max_size=40).map(" ".join), st.integers(5, 40))
def test_segments_are_the_whole_text_in_parts_that_fit(text: str, tokens: int) -> None:
    found = list(segments(text, tokens=tokens, counted_by="words"))
    assert " ".join(found).split() == text.split()
    assert all(len(part.split()) == int(tokens / 1.25) for part in found[:-1])


@pytest.mark.django_db
def test_the_mean_cosine_over_all_segments(server: FakeServer) -> None:
    lines = [
        {"key": "a", "question": "island ferry", "documents": ["The ferry to the island.", "Rain."]},
        {"key": "b", "question": "fares", "documents": ["ferry " * 819 + "fares " * 5]},
    ]
    import_questions(long2rag.parse(lines), dataset="logs", actor=None, now=NOW)

    def report(*more: str) -> dict[str, Any]:
        names = ("--dataset", "logs", "--base-url", server.address, "--model", "wren-2")
        return json_of("report", "segments", *names, *more)

    with pytest.raises(CommandError, match="The limit of 1 request is reached"):
        report("--max-requests", "1")
    with pytest.raises(CommandError, match="--max-requests is 0 or more"):
        report("--max-requests", "-3")
    found = report()
    # the server's vectors count island, ferry and fares: 1 and 0, then 0 and 1
    assert found["mean"] == pytest.approx((1 + 0 + 0 + 1) / 4)
    assert (found["n_questions"], found["n_documents"], found["n_segments"]) == (2, 3, 4)
    assert found["deviation"] == pytest.approx((1 / 3) ** 0.5)
    n_asked = server.n_asked
    assert report("--max-requests", "0") == found
    assert server.n_asked == n_asked
    names = ("--dataset", "logs", "--base-url", "https://elsewhere.example/v1", "--model", "x")
    with pytest.raises(CommandError, match="allow"):
        call_command("report", "segments", *names)
