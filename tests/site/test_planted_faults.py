"""The list of planted faults fits the program; `.ci/nightly` plants them."""

import pytest

from tests.plant import ROOT, NotPlantable, place_of
from tests.planted_faults import FAULTS, NAMED_TESTS, Fault


def test_every_fault_can_be_planted_in_one_place() -> None:
    for fault in FAULTS:
        assert place_of(fault), fault.breaks
        assert fault.instead != fault.text, fault.breaks


def test_every_fault_names_a_test_that_is_there() -> None:
    for name in NAMED_TESTS:
        path, _, function = name.partition("[")[0].partition("::")
        assert f"\ndef {function}(" in (ROOT / path).read_text(), name


def test_a_text_that_is_nowhere_or_in_several_places_is_no_fault() -> None:
    for text in ("no such text in any file", "from __future__ import annotations"):
        with pytest.raises(NotPlantable):
            place_of(Fault("nothing", text, "", ""))
