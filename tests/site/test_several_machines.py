"""Two web servers and three workers with folders of their own, on one PostgreSQL and one Redis."""

import json
import os
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

from bench.chaos import running
from bench.chaos.people import Line, Person, Reviewer
from bench.chaos.running import Crew
from bench.site import Site, answers
from bench.world import made_up
from benchmarks.io.jobs import INLINE_BYTES
from tests.conftest import ON_POSTGRESQL
from tests.running import wait_for

pytestmark = [
    pytest.mark.broker,
    pytest.mark.nightly,
    pytest.mark.skipif(not ON_POSTGRESQL or not shutil.which("redis-server"), reason="needs PostgreSQL and Redis"),
]


def test_a_file_sent_to_one_is_confirmed_on_another_and_each_is_replaced_while_people_work() -> None:
    """Reviewers are researchers, who may import; what people send meanwhile is refused only to be sent again."""
    site = Site(database_url=os.environ["DATABASE_URL"])

    def import_and_replace(crew: Crew, people: list[Person]) -> Counter[str]:
        headers = next(person.line.headers for person in people if isinstance(person, Reviewer))
        one, other = (Line([port], headers) for port in (member.port for member in crew.web))
        job = sent(one)
        assert "What would be imported" in awaited(other, job, "What would be imported")
        assert other.ask(f"{job}confirm/", "", "application/x-www-form-urlencoded")[0] == 302
        assert "Open “Far away”" in awaited(one, job, "Open “Far away”")
        for name in ("web-1", "worker", "web-2", "models", "figures"):
            member = crew.members[name]
            member.replace()
            wait_for(lambda: not member.port or answers(member.port))  # noqa: B023 - called at once
            time.sleep(1)
        folders = {Path(member.environment["DATA_DIR"]) for name, member in crew.members.items()}
        assert len(folders) == len(crew.members), "each has a folder of its own"
        assert not [path for folder in folders for path in folder.glob("uploads/*")]
        return Counter({"replaced": 5})

    try:
        numbers = running.Numbers(writers=6, labellers=2, reviewers=1)
        outcome = running.run(site, numbers, disturb=import_and_replace)
    finally:
        site.close()
    assert outcome.problems == []
    assert sum(log.n_retries for log in outcome.logs) > 0, "nobody met a server that was being replaced"
    assert sum(len(log.saves) for log in outcome.logs) > 50
    assert outcome.stored.verdicts, "no model has answered"


def sent(line: Line) -> str:
    """Send a haystack that is too large to be checked in the request; gives the page of the import."""
    content = json.dumps({**made_up("far", 9), "topic": "Far away"}) + " " * INLINE_BYTES
    edge = "edge-of-a-part"
    fields = {"format": "summhay", "judge": "published", "dataset": "far"}
    parts = [
        f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}'
        for name, value in fields.items()
    ]
    file = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="far.json"'
    parts.append(f"{file}\r\nContent-Type: application/json\r\n\r\n{content}")
    body = "\r\n".join([*parts, f"--{edge}--", ""])
    status, location, page = line.ask("/corpora/import/", body, f"multipart/form-data; boundary={edge}")
    assert status == 302, page[:2000]
    return location


def awaited(line: Line, path: str, words: str) -> str:
    """The page at this address once it says so, or as it is in the end."""
    pages = [""]

    def says_so() -> bool:
        pages.append(line.ask(path, None, "text/html")[2].decode())
        return words in pages[-1]

    wait_for(says_so)
    return pages[-1]
