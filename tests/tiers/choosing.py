"""Choose the first tier from a recording: what is cheap, what catches a planted fault, and the cheapest cover."""

import heapq
import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from pathlib import Path

from coverage.numbits import numbits_to_nums

from tests.planted_faults import NAMED_TESTS
from tests.tiers import LIST, ROOT

CHEAP_S = 0.1
SHARE = 0.99
"""Of the lines and template nodes that all tests reach, those that the first tier has to reach."""
SHARED = " (fixture)"


@dataclass(slots=True)
class Recording:
    """Seconds, and what was reached as a set of bits, by test and by shared fixture; the fixtures of each test."""

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    reached: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    fixtures: dict[str, list[str]] = field(default_factory=dict)

    @property
    def tests(self) -> list[str]:
        return [name for name in self.seconds if name and not name.endswith(SHARED)]


def read(folder: Path) -> Recording:
    """Read what all workers have left in `lines` and, run without recording these, in `seconds`."""
    recording, numbers, reached = Recording(), {}, defaultdict(list)

    def bit(*thing: object) -> int:
        return numbers.setdefault(thing, len(numbers))

    for path in sorted(folder.glob("seconds/told.*")):
        told = json.loads(path.read_text())
        recording.fixtures |= told["fixtures"]
        for name, seconds in told["seconds"].items():
            recording.seconds[name] += seconds
        for name, nodes in told["nodes"].items():
            reached[name] += [bit(*node) for node in nodes]
    for path in sorted(folder.glob("lines/lines.*")):
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute(
                "SELECT file.path, context.context, numbits FROM line_bits"
                " JOIN file ON file.id = file_id JOIN context ON context.id = context_id"
            )
            for file, name, numbits in rows:
                reached[name] += [bit(file, number) for number in numbits_to_nums(numbits)]
    for name, bits in reached.items():
        mask = bytearray(len(numbers) // 8 + 1)
        for number in bits:
            mask[number // 8] |= 1 << number % 8
        recording.reached[name] = int.from_bytes(mask, "little")
    return recording


def first_tier(recording: Recording) -> list[str]:
    """The tests to run by day: cheap ones, those that catch planted faults, and a cover of what is left."""
    of_imports, wanted = recording.reached[""], 0
    for name in recording.reached:
        wanted |= recording.reached[name] & ~of_imports
    covered, chosen, set_up = 0, set(), set()

    def cost(test: str) -> float:
        of_module = [one for one in recording.fixtures[test] if ".py::" in one and one not in set_up]
        return sum(recording.seconds[name] for name in (test, *of_module))

    def reach(test: str) -> int:
        reached = recording.reached[test]
        for fixture in recording.fixtures[test]:
            reached |= recording.reached[fixture]
        return reached & wanted

    def take(test: str) -> None:
        nonlocal covered
        chosen.add(test)
        set_up.update(recording.fixtures[test])
        covered |= reach(test)

    for test in recording.tests:
        if test.partition("[")[0] in NAMED_TESTS or test in NAMED_TESTS:
            take(test)
    for test in recording.tests:
        if cost(test) <= CHEAP_S:
            take(test)
    named, enough = set(chosen), SHARE * wanted.bit_count()
    # Greedy: what a test adds only falls as others are taken, so the first whose worth is still true is the best.
    waiting = [(-float("inf"), test) for test in recording.tests if test not in chosen]
    heapq.heapify(waiting)
    while covered.bit_count() < enough:
        worth, test = heapq.heappop(waiting)
        now = -((reach(test) & ~covered).bit_count() / max(cost(test), 0.001))
        if now <= worth + 1e-9 or (waiting and now <= waiting[0][0]):
            take(test)
        else:
            heapq.heappush(waiting, (now, test))
    base = reduce(or_, map(reach, named), 0)
    for test in sorted(chosen - named, key=cost, reverse=True):  # what later ones made needless
        if reduce(or_, map(reach, chosen - named - {test}), base).bit_count() >= enough:
            chosen.remove(test)
    return sorted(chosen)


def write(recording: Recording, first: list[str]) -> None:
    """Write the list of tests that wait, by module; a name without parameters stands for all of them."""
    by_day, waiting = set(first), defaultdict(set)
    kept = {test.partition("[")[0] for test in first}
    for test in recording.tests:
        if test not in by_day:
            module, _, name = test.partition("::")
            whole = test.partition("[")[0] not in kept
            waiting[module].add(name.partition("[")[0] if whole else name)
    with LIST.open("w") as file:
        for module in sorted(waiting):
            file.writelines([f"{module}\n", *(f"    {name}\n" for name in sorted(waiting[module]))])
    seconds = sum(recording.seconds[test] for test in first)
    total = sum(recording.seconds[test] for test in recording.tests)
    print(f"{len(first)} of {len(recording.tests)} tests by day, {seconds:.0f} of {total:.0f} s of processor")
    print(f"wrote {LIST.relative_to(ROOT)}")
