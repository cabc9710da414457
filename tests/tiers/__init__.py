"""Which tests `make test` runs, and which wait for `make test-all`: `second.txt` lists the latter.

A program chooses them, now and then: `python -m tests.tiers record FOLDER` runs all tests and records what each
costs and reaches, `python -m tests.tiers choose FOLDER` writes the list. What is not on it, such as a new test, is
in the first tier.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("second.txt")


def second_tier() -> dict[str, set[str]]:
    """Names of tests by their modules, without parameters where all of them wait."""
    listed: dict[str, set[str]] = {}
    module = ""
    for line in LIST.read_text().splitlines():
        if line.startswith("    "):
            listed[module].add(line.strip())
        else:
            module = line
            listed[module] = set()
    return listed
