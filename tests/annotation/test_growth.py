"""Saves with more words than were typed in the time: shown with their numbers, explained where they can be."""

import re
from datetime import timedelta
from typing import Any

import pytest

from annotation.models import GrowthCheck
from annotation.writing import scoring
from annotation.writing.curves import study_report
from annotation.writing.scoring import Save, jumps
from tests.annotation.writer import Writer, start_session
from tests.makers import NOW


def words(n: int, start: int = 0) -> str:
    return " ".join(f"word{number}" for number in range(start, start + n))


def saves(*rows: tuple[float, str, dict[str, Any]]) -> list[Save]:
    return [
        Save(rev=rev, received_at=NOW + timedelta(seconds=at), active_ms=int(at * 1000), text=text, **more)
        for rev, (at, text, more) in enumerate(rows, 1)
    ]


def flagged(*rows: tuple[float, str, dict[str, Any]], may_dictate: bool = False) -> list[tuple[int, bool, bool]]:
    found = jumps(saves(*rows), started_at=NOW, may_dictate=may_dictate)
    return [(jump.rev, jump.is_offline, jump.is_flagged) for jump in found]


def test_a_whole_text_in_one_save_is_flagged_however_long_the_silence_before() -> None:
    assert flagged((1_200, words(300), {})) == [(1, False, True)]
    [jump] = jumps(saves((1_200, words(300), {})), started_at=NOW)
    assert (jump.n_words, jump.seconds, jump.per_second, jump.since_last_s) == (300, 10.0, 30.0, 1200.0)


def test_typing_is_never_flagged() -> None:
    fast = [(5.0 * n, words(12 * n), {}) for n in range(1, 60)]
    assert flagged(*fast) == []


def test_text_moved_taken_back_or_doubled_is_not_new() -> None:
    typed = [(5.0 * n, words(12 * n), {}) for n in range(1, 10)]
    whole = words(108)
    assert flagged(*typed, (50, "", {}), (52, whole, {}), (54, f"{whole}\n{whole}", {})) == []


def test_text_written_offline_is_not_called_implausible_without_saying_so() -> None:
    long_offline = (700, words(200), {"offline_ms": 600_000})
    put_back = (700, words(200), {"source": "restored"})
    for row in (long_offline, put_back):
        assert flagged((60, "a few words", {}), row) == [(2, True, False)]
    too_quick = (62, words(200), {"source": "restored"})
    assert flagged((60, "a few words", {}), too_quick) == [(2, True, True)]


def test_dictation_hands_over_whole_paragraphs() -> None:
    paragraph = (90, words(150), {})
    assert flagged((30, "start", {}), paragraph) == [(2, False, True)]
    assert flagged((30, "start", {}), paragraph, may_dictate=True) == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("more", "flag"), [({}, "many words at once"), ({"source": "restored"}, "written offline")]
)
def test_the_researcher_sees_it_with_its_numbers(ben, ada, as_ada, more: dict[str, Any], flag: str) -> None:
    writer = Writer(start_session(ben))
    study = writer.session.assignment.study
    study.researchers.add(ada)
    writer.save(2_000, "- A few words")
    writer.save(4_000, f"- A few words {words(120)}", **more)
    writer.submit(60_000)
    assert scoring.check_growth(now=NOW) == 1
    assert scoring.check_growth(now=NOW) == 0
    assert GrowthCheck.objects.get().n_flagged == 1
    [row] = study_report(study=study, judge=None).sessions
    assert flag in " ".join(row.flags)
    assert study_report(study=study, judge=None).n_counted == 1
    shown = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", as_ada.get(f"/sessions/{writer.session.uid}/").text))
    assert "Many words at once" in shown
    assert ("restored from the browser" in shown) is bool(more)
