"""The list of planted faults fits the program; `.ci/nightly` plants them."""

from __future__ import annotations

import pytest

from tests.plant import ROOT, NotPlantable, place_of
from tests.planted_faults import FAULTS, Fault


def test_every_fault_can_be_planted_in_one_place_and_names_tests_that_are_there() -> None:
    for fault in FAULTS:
        assert place_of(fault), fault.breaks
        assert fault.instead != fault.text, fault.breaks
        assert fault.caught_by, fault.breaks
        assert all((ROOT / name).is_file() for name in fault.caught_by), fault.breaks


def test_a_text_that_is_nowhere_or_in_several_places_is_no_fault() -> None:
    for text in ("no such text in any file", "from __future__ import annotations"):
        with pytest.raises(NotPlantable):
            place_of(Fault("nothing", text, "", ()))
