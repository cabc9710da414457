"""People decide: edits make documents stale, those alone are made again, undo brings everything back."""

from datetime import datetime
from typing import Any

import pytest
from django.utils import timezone

from benchmarks.engine import judging
from extensions.synthesis import deciding, handing_over, overview, steps
from extensions.synthesis.figures import FIGURES, FiguresLook
from extensions.synthesis.models import NotAllowed, PartState, StepState, Synthesis, SynthesisPart, SynthesisStep
from tests.fake_openai import FakeServer
from tests.synthesis.driver import Command
from tests.synthesis.scripted import Script
from tests.synthesis.test_haystack_command import FEW, SMALL

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(server: FakeServer) -> Synthesis:
    size = (*SMALL, *FEW, "--in-documents", "3", "--in-document", "3", "3")
    Command(server, "A small town", "haystack", *size).lines(Script())
    return Synthesis.objects.get()


def states(synthesis: Synthesis) -> dict[str, str]:
    rows = synthesis.parts.order_by("pk").values_list("kind", "number", "generation", "state")
    return {f"{kind} {number}.{generation}": state for kind, number, generation, state in rows}


def step(synthesis: Synthesis, name: str) -> SynthesisStep:
    return synthesis.steps.get(name=name)


def run(one: SynthesisStep) -> None:
    found = steps.start(step=one, options=judging.ModelOptions(), by=None, now=timezone.now())
    if found is not None:
        judging.run_pending(run=found, clock=timezone.now)


def test_an_edit_makes_its_documents_stale_and_only_they_are_written_again(
    made: Synthesis, server: FakeServer, ada, now: datetime
) -> None:
    before = states(made)
    insight = made.parts.filter(kind="insight")[0]
    holding = set(insight.used_by.filter(kind="document").values_list("number", flat=True))
    deciding.decide(part=insight, action="edit", text="The bell of Dunwich rang 77 times.", by=ada, now=now)
    after = states(made)
    changed = {key for key in after if after[key] != before[key]}
    query = f"query {insight.parent.number}.0"
    assert changed == {f"insight {insight.number}.0", query, *(f"document {n}.0" for n in holding)}
    assert step(made, "documents").state == StepState.STALE
    assert step(made, "screening").state == StepState.CLOSED
    n_asked = server.n_asked
    run(step(made, "documents"))
    documents = made.parts.filter(kind="document", generation=1)
    assert set(documents.values_list("number", flat=True)) == holding
    assert all("rang 77 times" in row.text for row in documents)
    written = [
        body for body in server.bodies[n_asked:] if body["messages"][0]["content"].startswith("You write one")
    ]
    assert len(written) == len(holding)


def test_what_was_said_of_an_insight_is_not_shown_beside_its_new_text(made: Synthesis, ada) -> None:
    insight = made.parts.filter(kind="insight")[0]
    part = insight.used_by.filter(kind="document")[0]
    deciding.judge(part=part, insight=insight, verdict="present", by=ada, now=timezone.now())

    def rows() -> dict[int, tuple[Any, Any]]:
        seen = overview.shown(SynthesisPart.objects.get(pk=part.pk), -1)
        return {row.insight.pk: (row.pair and row.pair["present"], row.verdict and row.verdict.reason)
                for row in seen["holds"]}  # fmt: skip

    before = rows()
    assert before[insight.pk] == ("yes", "present")
    deciding.decide(part=insight, action="edit", text="The bell rang 77 times.", by=ada, now=timezone.now())
    assert rows() == {**before, insight.pk: (None, None)}
    later = deciding.judge(part=part, insight=insight, verdict="absent", by=ada, now=timezone.now())
    assert later.before["said"] is None, "no check knows the new text"
    assert rows()[insight.pk] == (None, "absent")
    for _decision in range(2):
        deciding.undo(synthesis=made, by=ada, now=timezone.now())
    assert rows() == before


def test_undo_brings_back_the_part_and_what_it_made_stale(made: Synthesis, ada, now: datetime) -> None:
    before = states(made)
    insight = made.parts.filter(kind="insight")[0]
    text = insight.text
    deciding.decide(part=insight, action="reject", reason="other", by=ada, now=now)
    assert states(made) != before
    deciding.undo(synthesis=made, by=ada, now=now)
    insight.refresh_from_db()
    assert (states(made), insight.text) == (before, text)
    assert not made.steps.exclude(state=StepState.CLOSED).exists()
    assert deciding.undo(synthesis=made, by=ada, now=now) is None


def test_an_insight_is_made_again_with_a_note_and_checked(
    made: Synthesis, server: FakeServer, ada, now: datetime
) -> None:
    insight = made.parts.filter(kind="insight")[0]
    deciding.decide(part=insight, action="regenerate", note="Make it about chimneys.", by=ada, now=now)
    run(step(made, "screening"))
    new = SynthesisPart.objects.get(replaces=insight)
    assert new.state == PartState.CLEAR
    assert "chimneys" in new.text
    asked = new.replies.get(ask="again-0").request
    assert "Make it about chimneys." in asked
    assert insight.text in asked
    steps.close(step=step(made, "screening"), by=ada, now=now)
    run(step(made, "documents"))
    held = made.parts.filter(kind="document", uses=new)
    assert held
    assert all(new.text in row.text for row in held)


def test_a_rejected_query_is_made_again_in_its_next_generation(made: Synthesis, ada, now: datetime) -> None:
    queries = made.parts.filter(kind="query")
    rejected = queries.order_by("number")[0]
    deciding.decide(part=rejected, action="reject", reason="not as planned", by=ada, now=now)
    before = states(made)
    run(step(made, "queries"))
    assert states(made) == before | {f"query {rejected.number}.1": PartState.CLEAR}
    newest = queries.get(generation=1)
    assert newest.parent == rejected.parent
    assert list(newest.uses.order_by("pk")) == list(rejected.uses.order_by("pk"))


def test_verdicts_on_insights_change_no_document_and_feed_the_figures(made: Synthesis, ada, now: datetime) -> None:
    document = made.parts.filter(kind="document", state=PartState.CLEAR)[0]
    planned = list(document.uses.filter(kind="insight").order_by("number"))
    foreign = made.parts.filter(kind="insight").exclude(pk__in=[one.pk for one in planned])[0]
    before = states(made)
    for insight, verdict in ((planned[0], "absent"), (planned[0], "present"), (planned[1], "absent"),
                             (planned[2], "partly"), (foreign, "present")):  # fmt: skip
        deciding.judge(part=document, insight=insight, verdict=verdict, by=ada, now=now)
    assert states(made) == before
    figures = FIGURES.compute(FiguresLook(made.pk))
    assert figures.said_right.value == pytest.approx(1 / 3)
    assert figures.said_seen.value == 0.5
    assert (figures.clear_wrong.value, figures.decisions) == (None, {"verdict": 5})
    deciding.undo(synthesis=made, by=ada, now=now)
    assert FIGURES.compute(FiguresLook(made.pk)).said_seen.value == 1
    deciding.decide(part=document, action="edit", text="Another text.", by=ada, now=now)
    late = deciding.judge(part=document, insight=foreign, verdict="absent", by=ada, now=now)
    assert late.before == {"said": None}
    for wrong in ((document, document, "absent"), (planned[0], foreign, "absent"), (document, foreign, "maybe")):
        with pytest.raises(NotAllowed):
            deciding.judge(part=wrong[0], insight=wrong[1], verdict=wrong[2], by=ada, now=now)


def test_decisions_have_a_reason_and_end_with_the_hand_over(made: Synthesis, ada, now: datetime) -> None:
    insight = made.parts.filter(kind="insight")[0]
    for wrong in ({"action": "reject"}, {"action": "edit", "text": " "}):
        with pytest.raises(NotAllowed):
            deciding.decide(part=insight, by=ada, now=now, **wrong)
    assert deciding.accept_clear(step=step(made, "documents"), by=ada, now=now) == 6
    assert not made.parts.get(kind="document", number=1).decisions.get().is_read
    handing_over.hand_over(synthesis=made, by=ada, now=now)
    with pytest.raises(NotAllowed, match="handed over"):
        deciding.decide(part=insight, action="accept", by=ada, now=now)


def test_undo_leaves_what_somebody_else_decided_since(made: Synthesis, ada, eve, now: datetime) -> None:
    insight = made.parts.filter(kind="insight")[0]
    deciding.decide(part=insight, action="edit", text="The bell rang 77 times.", by=ada, now=now)
    deciding.decide(part=insight, action="edit", text="The bell rang 78 times.", by=eve, now=now)
    with pytest.raises(NotAllowed, match="Somebody else"):
        deciding.undo(synthesis=made, by=ada, now=now)
    insight.refresh_from_db()
    assert insight.text == "The bell rang 78 times."
    deciding.undo(synthesis=made, by=eve, now=now)
    insight.refresh_from_db()
    assert insight.text == "The bell rang 77 times."
    assert deciding.undo(synthesis=made, by=ada, now=now) is not None


def test_two_insights_are_not_merged_into_each_other(made: Synthesis, ada, eve, now: datetime) -> None:
    first, second = made.parts.filter(kind="insight")[:2]
    seen_before = SynthesisPart.objects.get(pk=first.pk)
    deciding.decide(part=first, action="merge", into=second, by=ada, now=now)
    with pytest.raises(NotAllowed, match="another one that stands"):
        deciding.decide(part=second, action="merge", into=seen_before, by=eve, now=now)
    second.refresh_from_db()
    assert second.state == PartState.CLEAR


def test_figures_go_stale_with_decisions_undo_parts_and_steps(made: Synthesis, ada, now: datetime) -> None:
    def version() -> str:
        return FIGURES.version(FiguresLook(made.pk))

    document = made.parts.filter(kind="document", state=PartState.CLEAR)[0]
    insight = document.uses.filter(kind="insight").first()
    changes = (
        lambda: deciding.judge(part=document, insight=insight, verdict="absent", by=ada, now=now),
        lambda: deciding.undo(synthesis=made, by=ada, now=now),
        lambda: deciding.decide(part=document, action="edit", text="Another text.", by=ada, now=now),
        lambda: deciding.decide(part=insight, action="edit", text="The bell rang 77 times.", by=ada, now=now),
        lambda: run(step(made, "documents")),
    )
    seen = [version(), version()]
    assert seen[0] == seen[1]
    for change in changes:
        change()
        seen.append(version())
    assert len(set(seen)) == 1 + len(changes)
