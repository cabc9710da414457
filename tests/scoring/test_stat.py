"""A figure knows why it has no value, and loads nothing heavy."""

import json
import math
import subprocess
import sys
from pkgutil import walk_packages

import pytest

from benchmarks import scoring
from benchmarks.scoring.stat import NotANumber, Stat, mean


def test_an_undefined_figure_is_null_with_its_reason() -> None:
    row = Stat.undefined("no items", n_items=3, n_pairs=0, method="kappa").as_json()
    assert row["value"] is None
    assert row["undefined_reason"] == "no items"
    assert (row["n_items"], row["n_pairs"], row["method"], row["too_few"]) == (3, 0, "kappa", True)
    assert "NaN" not in json.dumps(row, allow_nan=False)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_refused_wherever_they_come(value: float) -> None:
    with pytest.raises(NotANumber):
        Stat(value)
    with pytest.raises(NotANumber):
        Stat(0.5, low=value, high=1.0)


def test_a_figure_has_a_value_or_a_reason_never_both_or_neither() -> None:
    with pytest.raises(NotANumber):
        Stat(None)
    with pytest.raises(NotANumber):
        Stat(0.5, undefined_reason="no items")
    with pytest.raises(NotANumber):
        Stat(0.5, low=0.1)
    with pytest.raises(NotANumber):
        Stat(None, undefined_reason="no items", low=0.1, high=0.2)


def test_under_thirty_items_are_too_few_to_interpret() -> None:
    assert Stat(0.5, n_items=29).too_few
    assert not Stat(0.5, n_items=30).too_few


def test_scaling_moves_value_and_interval_and_leaves_the_undefined() -> None:
    figure = Stat(0.5, n_items=40, low=0.25, high=0.75).scaled(100)
    assert (figure.value, figure.low, figure.high, figure.n_items) == (50, 25, 75, 40)
    turned = Stat(0.5, low=0.25, high=0.75).scaled(-1)
    assert (turned.low, turned.high) == (-0.75, -0.25)
    nothing = Stat.undefined("no items")
    assert nothing.scaled(100) is nothing
    assert not nothing.is_defined


def test_zero_is_a_value_and_the_mean_of_nothing_is_none() -> None:
    assert mean([0.0, 0.0], reason="none").value == 0
    assert mean([], reason="no bullets").undefined_reason == "no bullets"


HEAVY = ("scipy", "sklearn", "krippendorff", "statsmodels", "pandas", "altair", "django", "celery", "openai")
EVERY = [module.name for module in walk_packages(scoring.__path__, "benchmarks.scoring.")]


def loaded_by(modules: list[str]) -> set[str]:
    code = f"import sys, {', '.join(modules)}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    )


def test_no_figure_loads_a_heavy_library_at_import() -> None:
    assert not loaded_by(EVERY) & set(HEAVY)


@pytest.mark.parametrize("module", ["text", "stat", "summhay"])
def test_what_the_work_pages_need_is_the_standard_library(module: str) -> None:
    assert "numpy" not in loaded_by([f"benchmarks.scoring.{module}"])
