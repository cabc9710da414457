"""`synthesize haystack` against a server that leaks, forgets, repeats, breaks JSON, answers 429 and 500."""

import re
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from benchmarks.io.schemas import summhay
from benchmarks.io.writers import topic_of
from benchmarks.models import Generator, Haystack, JudgeCall
from benchmarks.scoring.formulas import unseen_hits
from extensions.synthesis import deciding
from extensions.synthesis.models import PartKind, PartState, Synthesis, SynthesisPart, SynthesisReply
from extensions.synthesis.replies import default_prompt
from tests.fake_openai import MODEL, Answer, FakeServer
from tests.synthesis.driver import Command, Dying, texts_of
from tests.synthesis.scripted import FACTS, SUBTOPICS, Script, whispered

pytestmark = pytest.mark.django_db

SMALL = (
    *("--subtopics", "3", "--insights", "4", "--documents", "12", "--words", "60"),
    *("--in-documents", "3", "--in-document", "3", "5", "--audit", "20"),
)
FEW = (
    *("--insights", "2", "--documents", "6", "--in-documents", "2", "--in-document", "1", "3"),
    *("--audit", "0", "--probes", "0"),
)
"""Fewer insights and texts, without more checks: enough where it does not matter how many there are."""


@pytest.fixture
def command(server: FakeServer) -> Command:
    return Command(server, "A small town", "haystack", *SMALL)


def test_a_haystack_comes_out_whole_and_into_the_corpus(command: Command, tmp_path: Path) -> None:
    out, card = tmp_path / "town.json", tmp_path / "card.md"
    report = command.report(Script(), "--out", str(out), "--card", str(card), "--into-corpus")
    got = {name: counts["got"] for name, counts in report["steps"].items()}
    assert got == {"subtopics": 3, "insights": 12, "screening": 12, "documents": 12, "queries": 3}
    assert report["flagged"] == []
    topic = summhay.parse(out)
    assert [len(subtopic.insights) for subtopic in topic.subtopics] == [4, 4, 4]
    assert all(len(i.gold_documents) >= 3 for subtopic in topic.subtopics for i in subtopic.insights)
    assert report["checks"]["auc"] == 1.0
    haystack = Haystack.objects.get(title="A small town")
    assert haystack.n_documents == 12
    assert Synthesis.objects.get().haystack == haystack
    assert b"".join(summhay.dump(topic_of(haystack))) == out.read_bytes()
    lines = card.read_text().splitlines()
    assert lines[0] == "# A small town"
    assert f"| documents | {MODEL} | closed | Asked for 12, got 12. |" in lines
    assert "| Planted against not, by words: AUC | 1.000 |" in lines
    assert "| Insights that the model knows without any text | 0.083 |" in lines  # one of twelve
    assert {"| in_document | 3, 5 |", "| all_pairs | no |", "| prompts | – |"} <= set(lines)
    assert not [
        line for line in lines if line.startswith("|") and re.search(r"[\[({]'|\(\d|None|True|False", line)
    ]
    assert "Leaks left in a document, mean: 0.000 found. Flagged and kept: 0 documents." in lines


def test_counts_of_a_step_are_printed_once(command: Command) -> None:
    assert "".join(command.lines(Script(), *FEW)).count("documents: Asked for 6, got 6.") == 1
    out, _err = command.lines(Script(), "--resume", Synthesis.objects.get().uid)
    assert out.count("documents: Asked for 6, got 6.") == 1


def test_leaks_and_omissions_are_found_repaired_or_flagged(command: Command) -> None:
    script = Script(leaks={2: 1, 5: 99}, forgets={3: 2})
    report = command.report(script)
    documents = report["steps"]["documents"]
    assert documents["got"] == 12
    assert documents["flagged"] == {"leaks an insight": 1}
    assert [row["flags"] for row in report["flagged"]] == [["leaks an insight"]]
    assert documents["repairs"] == 1 + 5 + 2  # one leak mended, one never, two texts without a fact
    assert script.played["leaked"] == 1 + 6
    flagged = SynthesisPart.objects.get(kind=PartKind.DOCUMENT, state=PartState.FLAGGED)
    leak = [pair for pair in flagged.data["pairs"] if not pair["is_planned"] and pair["present"] == "yes"]
    assert len(leak) == 1
    assert leak[0]["quote"] in flagged.text


LEAKY = (
    *("--insights", "6", "--documents", "30", "--in-documents", "3", "--in-document", "2", "4"),
    *("--audit", "180", "--probes", "0"),
)


def _unseen(report: dict[str, Any]) -> int:
    """Leaks in other words that stand in documents and that no check has found."""
    documents = SynthesisPart.objects.filter(synthesis__uid=report["synthesis"], kind=PartKind.DOCUMENT)
    insights = SynthesisPart.objects.filter(synthesis__uid=report["synthesis"], kind=PartKind.INSIGHT)
    texts = list(insights.values_list("text", flat=True))
    return sum(whispered(text) in part.text for part in documents for text in texts)


def test_the_card_says_how_many_leaks_in_other_words_about_are_unseen(command: Command, tmp_path: Path) -> None:
    card = tmp_path / "card.md"
    report = command.report(Script(whispers=2), *LEAKY, "--card", str(card))
    leaks = report["leaks"]
    assert leaks["audited_leaks"] > 5
    assert leaks["audited"] + leaks["unasked"] > 400
    line = next(line for line in card.read_text().splitlines() if "asked about by lot" in line)
    low, high = (int(end) for end in re.search(r"interval (\d+)–(\d+)", line).groups())
    assert low <= _unseen(report) <= high
    assert "Leaks left in a document, mean: 0.000 found." in card.read_text()


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_the_estimate_of_unseen_leaks_holds_the_truth_in_nineteen_of_twenty_seeds(command: Command) -> None:
    rows = []
    for seed in range(1, 21):
        report = command.report(Script(whispers=2), *LEAKY, "--seed", str(seed))
        leaks = report["leaks"]
        stat = unseen_hits(leaks["audited_leaks"], leaks["audited"], leaks["unasked"])
        rows.append((seed, stat.value, stat.low, stat.high, _unseen(report)))
        print("seed {}: about {:.0f} ({:.0f}–{:.0f}), in truth {}".format(*rows[-1]))
    assert sum(low <= truth <= high for _seed, _value, low, high, truth in rows) >= 17
    mean, truth = (sum(row[at] for row in rows) / len(rows) for at in (1, 4))
    assert mean == pytest.approx(truth, rel=0.15)


def test_all_pairs_are_asked_about_as_in_the_paper(command: Command, tmp_path: Path) -> None:
    card = tmp_path / "card.md"
    report = command.report(Script(whispers=1), *FEW, "--all-pairs", "--card", str(card))
    assert report["leaks"] == {"audited_leaks": 0, "audited": 0, "unasked": 0}
    assert _unseen(report) == 0
    assert "All pairs of a document and an insight" in card.read_text()


def test_every_run_says_whether_its_checks_notice_evidence_taken_out_and_put_in(command: Command) -> None:
    honest = command.report(Script(), *FEW, "--probes", "40")["probes"]
    assert honest["n"] == honest["n_caught"] > 5
    assert honest["n_insertions"] == honest["n_insertions_caught"] == honest["n"]
    options = (*FEW, "--probes", "40", "--repairs", "0", "--seed", "2")
    blind = command.report(Script(credulous=True), *options)["probes"]
    assert blind["n"] > 5
    assert blind["n_caught"] == 0


def test_repeated_and_empty_proposals_are_dropped_and_asked_for_again(command: Command) -> None:
    report = command.report(Script(repeats=True), *FEW, "--rounds", "5", "--allow-short")
    assert report["steps"]["subtopics"]["dropped"] == {"says the same as another": 1}
    assert "no number, date or name" in report["steps"]["insights"]["dropped"]


def test_a_misplaced_insight_is_flagged_and_left_out(command: Command) -> None:
    report = command.report(Script(misplaced=True), *FEW, "--insights", "4", "--in-document", "1", "5")
    assert report["steps"]["screening"]["flagged"] == {"belongs elsewhere": 1}
    assert report["steps"]["screening"]["got"] == 11
    assert [row["kind"] for row in report["flagged"]] == ["insight"]


def test_too_few_subtopics_end_the_command_with_a_sentence(command: Command) -> None:
    _out, err = command.lines(Script(short=True), "--rounds", "2")
    assert "Asked for 3, got 2. At least 3 are needed." in err
    assert "status 1" in err
    assert not SynthesisPart.objects.filter(kind=PartKind.INSIGHT).exists()


def test_a_short_list_is_asked_for_once_more_and_names_what_is_there(command: Command, server: FakeServer) -> None:
    report = command.report(Script(short=True), *FEW, "--rounds", "2", "--ask-again")
    assert report["steps"]["subtopics"]["sentence"] == "Asked for 3, got 3, 1 list asked for once more."
    topic = SynthesisPart.objects.get(kind=PartKind.TOPIC)
    asks = list(topic.replies.values_list("ask", flat=True))
    assert asks == ["list-0", "distinct-list-0", "list-1", "distinct-list-1", "more-1-0", "distinct-more-1-0"]
    request = topic.replies.get(ask="more-1-0").request
    assert "into 1 subtopics" in request
    assert f"1. {SUBTOPICS[0]}\n2. {SUBTOPICS[1]}" in request
    subtopics = SynthesisPart.objects.filter(kind=PartKind.SUBTOPIC)
    assert list(subtopics.values_list("number", "title")) == list(enumerate(SUBTOPICS[:3], 1))
    n_asked = server.n_asked
    command.report(Script(short=True), "--resume", report["synthesis"], "--ask-again")
    assert server.n_asked == n_asked


def test_broken_json_429_and_500_cost_tries_and_nothing_else(command: Command) -> None:
    script = Script(breaks=9, busy=13, fails=17)
    report = command.report(script, *FEW)
    assert {"busy", "failed", "broken"} <= script.played.keys()
    assert report["repaired_replies"] == script.played["broken"]
    assert report["unusable_replies"] == 0
    assert report["steps"]["documents"]["got"] == 6


def test_a_server_that_stalls_costs_a_try_and_no_text(command: Command, server: FakeServer) -> None:
    script = Script()

    def stalling(number: int, body: dict[str, Any]):
        if number in {4, 20}:
            time.sleep(7)
            script.played["stalled"] += 1
        return script(number, body)

    report = command.report(
        stalling, *FEW, "--timeout", "6"
    )  # what does not stall takes less on a busy machine too
    assert report["steps"]["documents"]["got"] == 6
    assert report["failed_requests"] == 2
    assert all(body["temperature"] in {0.0, 1.0} for body in server.bodies)


def test_conversations_are_told_in_chapters_that_a_reader_takes_for_their_insight(
    command: Command, server: FakeServer, tmp_path: Path
) -> None:
    own = tmp_path / "chapter.md"
    own.write_text(f"You write one conversation of {{participants}}. {default_prompt('chapter')}")
    arguments = ("--kind", "conversation", "--participants", "a mayor", "--temperature", "none")
    out = tmp_path / "town.json"
    script = Script(strays={FACTS[1]: 2})
    report = command.report(script, *FEW, *arguments, "--prompt", f"chapter={own}", "--out", str(out))
    assert not any("temperature" in body for body in server.bodies)
    topic = summhay.parse(out)
    assert (topic.domain, topic.metadata["participants"], report["flagged"]) == ("conversation", "a mayor", [])
    gold = {insight.text: insight.gold_documents for each in topic.subtopics for insight in each.insights}
    assert report["steps"]["documents"]["repairs"] == script.played["strayed"] == 2 * len(gold[FACTS[1]])
    for document in topic.documents:
        assert {text for text in gold if text in document.text} == {
            text for text, numbers in gold.items() if document.number in numbers
        }
    pairs = SynthesisPart.objects.filter(kind=PartKind.DOCUMENT).first().data["pairs"]
    assert {pair["by"] for pair in pairs if pair["is_planned"]} == {"chapter"}
    with pytest.raises(CommandError, match="There is no prompt poem"):
        command.report(Script(), "--prompt", f"poem={own}")


def test_insights_of_conversations_are_asked_for_one_subtopic_after_the_other(
    command: Command, server: FakeServer
) -> None:
    report = command.report(Script(), *FEW, "--kind", "conversation")
    topic = SynthesisPart.objects.get(kind=PartKind.TOPIC, number=2)
    requests = {row.ask: row.request for row in topic.replies.all()}
    assert list(requests) == ["1-list-0", "2-list-0", "3-list-0"]
    assert all(text in requests["3-list-0"] for text in (FACTS[0], FACTS[7]))
    assert report["steps"]["insights"]["got"] == 6
    assert not any(body["messages"][0]["content"].startswith("These subtopics") for body in server.bodies)


def test_after_the_last_try_of_a_chapter_a_person_decides(command: Command, ada, now: datetime) -> None:
    script = Script(strays={FACTS[1]: 99})
    _out, err = command.lines(script, *FEW, "--kind", "conversation", "--tries", "3")
    assert "status 1" in err
    stuck = SynthesisPart.objects.filter(kind=PartKind.DOCUMENT, state=PartState.FLAGGED)
    assert f"{len(stuck)} wait for a person: no try was good." in err
    assert script.played["strayed"] == 3 * len(stuck)
    for part in stuck:
        deciding.decide(part=part, action="edit", text=f"{part.text}\nBob: {FACTS[1]}", by=ada, now=now)
    assert command.report(script, "--resume", str(part.synthesis.uid))["steps"]["queries"]["got"] == 3
    assert script.played["strayed"] == 3 * len(stuck)


def test_a_subtopic_that_repeats_another_is_dropped_and_asked_for_again(command: Command) -> None:
    report = command.report(Script(overlapping=SUBTOPICS[1]), *FEW)
    assert report["steps"]["subtopics"]["dropped"] == {"overlaps with another": 1}
    names = set(SynthesisPart.objects.filter(kind=PartKind.SUBTOPIC).values_list("title", flat=True))
    assert names == {SUBTOPICS[0], SUBTOPICS[2], SUBTOPICS[3]}


def test_a_step_is_done_by_the_model_that_is_named_for_it(command: Command, server: FakeServer) -> None:
    report = command.report(
        Script(), *FEW, "--model-for", "documents=writer-2", "--model-for", "queries = asker-3"
    )
    assert report["models"] == {
        "subtopics": MODEL, "insights": MODEL, "screening": MODEL, "documents": "writer-2", "queries": "asker-3",
    }  # fmt: skip
    openings: dict[str, set[str]] = {}
    for body in server.bodies:
        openings.setdefault(body["model"], set()).add(body["messages"][0]["content"][:14])
    assert openings["asker-3"] == {"You write the ", "Answer a quest"}
    assert "You write one " in openings["writer-2"]
    assert not openings[MODEL] & (openings["writer-2"] | openings["asker-3"])
    replies = SynthesisReply.objects.filter(part__kind=PartKind.DOCUMENT)
    assert set(replies.values_list("judge__name", flat=True)) == {"writer-2"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("sorting=other",), "There is no step sorting; the steps are subtopics, insights"),
        (("documents",), "STEP=NAME is needed"),
        (("documents=a", "documents=b"), "once for a step"),
    ],
)
def test_a_model_for_no_step_is_refused_and_nothing_is_kept(
    command: Command, options: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(CommandError, match=reason):
        command.report(Script(), *(f"--model-for={option}" for option in options))
    assert not Synthesis.objects.exists()
    assert not Generator.objects.exists()


def test_what_was_answered_is_never_asked_again(command: Command, server: FakeServer) -> None:
    first = command.report(Script(leaks={2: 1}), *FEW)
    n_asked = server.n_asked
    again = command.report(Script(leaks={2: 1}), "--resume", first["synthesis"])
    assert server.n_asked == n_asked
    assert again["steps"] == first["steps"]


def test_what_could_not_be_used_is_asked_again_by_the_next_synthesis_and_nothing_else(
    command: Command, server: FakeServer
) -> None:
    bad = _Babbling(Script(), "You write the question")
    assert command.report(bad, *FEW, "--allow-short")["unusable_replies"] == 9
    n_bad, script = bad.n, Script(by_subtopic=bad.script.by_subtopic)
    report = command.report(script, *FEW)
    assert report["unusable_replies"] == 0
    assert report["steps"]["queries"]["got"] == 3
    assert n_bad
    assert set(script.played) == {"query", "closed_book"}
    n_asked = server.n_asked
    command.report(Script(), *FEW)
    assert server.n_asked == n_asked, "a third one finds all replies"


class _Babbling:
    """Answers prompts that begin so in no way that can be used."""

    def __init__(self, script: Script, *starts: str) -> None:
        self.script, self.starts, self.n = script, starts, 0

    def __call__(self, number: int, body: dict[str, Any]):
        if body["messages"][0]["content"].startswith(self.starts):
            self.n += 1
            return Answer("As you wish.")
        return self.script(number, body)


def test_documents_give_ideas_for_subtopics_and_insights_and_for_nothing_else(
    command: Command, server: FakeServer, tmp_path: Path
) -> None:
    folder, card = tmp_path / "ideas", tmp_path / "card.md"
    folder.mkdir()
    (folder / "one.txt").write_text("Gulls stole the bread of Old Brindle.")
    command.report(Script(), *FEW, "--ideas-from", str(folder), "--card", str(card))
    asked = [body["messages"][0]["content"] for body in server.bodies]
    seen = {text[:15] for text in asked if "[1] Gulls stole the bread of Old Brindle." in text}
    assert seen == {"You plan a coll", "You invent the "}
    assert "| uploaded documents | 1 |" in card.read_text()
    server.bodies.clear()
    command.report(Script(), *FEW, "--seed", "2")
    assert not any("give you ideas" in str(body) for body in server.bodies)


def test_documents_that_give_ideas_are_there_and_not_too_long(command: Command, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="it needs 1"):
        command.report(Script(), "--ideas-from", str(tmp_path))
    (tmp_path / "long.md").write_text("word " * 40_001)
    with pytest.raises(CommandError, match="40,001 words"):
        command.report(Script(), "--ideas-from", str(tmp_path))
    assert not Synthesis.objects.exists()


def test_killed_at_any_moment_and_resumed_it_ends_the_same(command: Command, server: FakeServer) -> None:
    whole = command.report(Script(leaks={2: 1}, forgets={3: 1}), *FEW, "--concurrency", "1")
    texts = texts_of(whole["synthesis"])
    Synthesis.objects.all().delete()
    JudgeCall.objects.all().delete()
    script, server.bodies = Script(leaks={2: 1}, forgets={3: 1}), []
    uid = ""
    for most in (2, 5, 11, 16):
        played = Dying(script, most)
        with suppress(SystemExit, CommandError):
            command.report(played, *(["--resume", uid] if uid else FEW), "--concurrency", "1")
        assert played.n > most, "it was cut off"
        uid = str(Synthesis.objects.get().uid)
    command.report(script, "--resume", uid, "--concurrency", "1")
    assert SynthesisReply.objects.count() == JudgeCall.objects.filter(state="answered", is_repair=False).count()
    assert texts_of(uid) == texts
