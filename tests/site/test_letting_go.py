"""After some days personal data goes that no figure reads; figures and disputes stay as they are."""

import json
from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import Annotator, Participant, Study, TurnedAway
from annotation.writing import packing
from benchmarks.models import AuditEvent
from benchmarks.results.stored import forget_all
from summhay_site import privacy
from summhay_site.accounts.models import User
from summhay_site.operations.erasing import FORMER
from tests.annotation.test_packing import LATER, all_that_is_seen, looked_over, writer
from tests.annotation.writer import Writer
from tests.everything_held import hold_everything
from tests.makers_verification import make_verification_study, say_all

__all__ = ["writer"]
SETTINGS = [part.setting for part in privacy.PARTS]


@pytest.fixture
def points(ben, cleo, ada, db: None) -> Study:
    """Two annotators who disagree here and there, in a study that is over."""
    study = make_verification_study(annotators=[ben, cleo], researcher=ada, for_all=True, state="closed")
    say_all(study, ["AA", "AN", "Ax", "DA", "AA", "NN"])
    return study


def _report(study: Study):
    forget_all()
    call_command(
        "report", "agreement", "--study", study.name, "--task", "grounded", "--json", stdout=(out := StringIO())
    )
    return json.loads(out.getvalue())


def _without_names(value, names: dict[str, str]) -> str:
    text = json.dumps(value, default=str, sort_keys=True)
    for name, number in names.items():
        text = text.replace(name, number)
    return text


def _labels() -> dict[int, str]:
    return dict(Annotator.objects.values_list("pk", "label"))


def test_nothing_goes_without_a_setting(writer: Writer, points: Study) -> None:
    looked_over()
    packing.pack_ended(now=LATER)
    assert privacy.let_go(now=LATER + timedelta(days=5000)) == {}
    assert not AuditEvent.objects.filter(action=privacy.LET_GO).exists()


@pytest.mark.every_database  # it compares JSON
def test_what_goes_is_said_before_and_changes_no_figure(
    writer: Writer, points: Study, ben, cleo, eve, settings
) -> None:
    hold_everything(cleo, word="cleoword", by=eve, now=LATER)
    Study.objects.update(state="closed")
    User.objects.update(date_joined=LATER)
    looked_over()
    packing.pack_ended(now=LATER)
    seen, report, names = all_that_is_seen(writer.row()), _report(points), _labels()
    for name in SETTINGS:
        setattr(settings, name, 100)
    long_after = LATER + timedelta(days=101)
    assert not any(n for _part, n in privacy.due(now=LATER + timedelta(days=60)))
    call_command("let_go", "--dry-run", stdout=(said := StringIO()))
    assert "would go" in said.getvalue()
    due = {part.name: n for part, n in privacy.due(now=long_after)}
    assert min(due.values()) > 0
    assert privacy.let_go(now=long_after) == due
    left = {part.name: n for part, n in privacy.due(now=long_after)}
    assert left == dict.fromkeys(left, 0)
    assert AuditEvent.objects.get(action=privacy.LET_GO).detail == due

    after, new = all_that_is_seen(writer.row()), _labels()
    assert set(new.values()).isdisjoint(names.values())
    for name in ("result", "insights", "jumps", "copied", "late"):
        assert after[name] == seen[name]
    changed = {name for name in seen if after[name] != seen[name]}
    assert {name for name in changed if "." in name} == {name for name in seen if name.endswith("events.jsonl")}
    numbered = {label: str(pk) for pk, label in names.items()}, {label: str(pk) for pk, label in new.items()}
    assert _without_names(_report(points), numbered[1]) == _without_names(report, numbered[0])


def test_of_searches_only_the_words_go(writer: Writer, settings) -> None:
    looked_over()
    packing.pack_ended(now=LATER)
    settings.RETAIN_SEARCH_WORDS_DAYS = 10
    before = list(packing.rows_of("events", [writer.session.pk], ["type", "payload"]))
    assert privacy.let_go(now=LATER + timedelta(days=11)) == {"search_words": 1}
    after = list(packing.rows_of("events", [writer.session.pk], ["type", "payload"]))
    assert [row["id"] for row in after] == [row["id"] for row in before]
    assert {json.dumps(row["payload"]) for row in after if row["type"] == "search"} == {"{}"}
    assert privacy.let_go(now=LATER + timedelta(days=11)) == {}


def test_who_comes_back_or_is_at_work_keeps_the_name(ben, cleo, dot, ada, eve, settings, now: datetime) -> None:
    settings.RETAIN_INACTIVE_DAYS = 100
    hold_everything(cleo, word="cleoword", by=eve, now=now)
    Study.objects.update(state="closed")
    make_verification_study(annotators=[ben], researcher=ada)
    late = now + timedelta(days=400)
    User.objects.update(date_joined=now, last_login=now)
    User.objects.filter(pk=dot.pk).update(last_login=late)
    assert privacy.let_go(now=late) == {"inactive": 1}
    assert {user.username for user in User.objects.all() if not user.username.startswith(FORMER)} == {
        *("ada", "ben", "dot", "eve"),
    }
    former = User.objects.get(pk=cleo.pk)
    assert (former.name, former.email, former.is_active, former.has_usable_password()) == ("", "", False, False)
    assert former.exposures.exists()
    assert not Participant.objects.exists()
    assert not TurnedAway.objects.exists()
    told = json.dumps(list(AuditEvent.objects.values("object_name", "object_type")))
    assert "label cleoword" not in told
    assert '"cleo"' not in told
