"""How the audit counts: what each test went through, and the findings, told at the end of a run.

Tests run a sample, the same each time, unless AUDIT=all asks for everything (`make audit`, and at night).
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")
SEED = 26
SHOWN = 20


class Audit:
    """What one test went through and found."""

    def __init__(self, tell: Callable[[str, int], None]) -> None:
        self.tell = tell
        self.is_whole = os.environ.get("AUDIT") == "all"
        self.findings: list[str] = []
        self.answered: set[str] = set()

    def sample(self, cases: Iterable[Case], n: int) -> Iterator[Case]:
        """All cases, or n of them: the same with every run."""
        everything = list(cases)
        if self.is_whole or len(everything) <= n:
            return iter(everything)
        return iter([everything[at] for at in sorted(random.Random(SEED).sample(range(len(everything)), n))])

    def count(self, what: str, n: int = 1) -> None:
        """Add to what the summary says."""
        self.tell(what, n)

    def find(self, finding: str) -> None:
        """Keep a finding."""
        self.findings.append(finding)

    def conclude(self) -> None:
        """Fail with the findings, if there are any."""
        self.count("findings", len(self.findings))
        shown = "\n".join(self.findings[:SHOWN])
        assert not self.findings, f"{len(self.findings)} findings (seed {SEED}):\n{shown}"


def counted(record_property: Callable[[str, Any], None]) -> Audit:
    """Counts that a test's report carries to the summary."""
    return Audit(lambda what, n: record_property(f"audit {what}", n))


@pytest.fixture
def audit(record_property: Callable[[str, Any], None]) -> Audit:
    """Counts and findings of a test."""
    return counted(record_property)


def pytest_terminal_summary(terminalreporter) -> None:
    """Say what the run went through; reports bring it from every process."""
    counts: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", []):
                if name.startswith("audit ") and report.when == "call":
                    counts[name.removeprefix("audit ")] += value
    if counts:
        terminalreporter.section("audit")
        for name, n in sorted(counts.items()):
            terminalreporter.write_line(f"{n:>9,}  {name}")
