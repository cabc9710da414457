"""What a web server must not load for a figure."""

from __future__ import annotations

import subprocess
import sys
from pkgutil import walk_packages

import pytest

from benchmarks import scoring

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
