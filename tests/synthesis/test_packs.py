"""Packs: what is wrong with one is said with its place, and what is made of one is what its plan says."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extensions.synthesis.packs import make
from extensions.synthesis.packs.dealing import Chance, NoWorld, Values, fill
from extensions.synthesis.packs.reading import UnreadablePack, lint, read_pack
from extensions.synthesis.packs.values import wrong_pairs
from tests.running import output_of
from tests.synthesis.worlds import small


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31 - 1))
def test_any_world_holds_exactly_what_its_plan_says(tmp_path: Path, seed: int) -> None:
    pack = small(tmp_path)
    world = make(pack, seed=seed)
    assert wrong_pairs(world.check, world.plan) == []
    assert all(world.check.evidence(insight, world.plan.documents[at]) for insight, at in world.plan.pairs)
    held = world.plan.planted.sum(axis=1)
    assert (held >= 2).all()
    assert (held <= 4).all()
    values: Values = fill(pack, Chance(pack.id, pack.version, seed)).values
    numbers = {name: value.number for name, value in values.items()}
    assert numbers["start"] < 0.6 * numbers["rent"]
    for document in world.topic.documents:
        assert not set("{}[]<>|") & set(document.text)


def test_an_edit_of_one_fact_moves_no_other(tmp_path: Path) -> None:
    before = make(small(tmp_path), seed=3)
    after = make(small(tmp_path, {"On a good day {pears} pears change hands.": "Some {pears} pears go."}), seed=3)
    assert after.facts == before.facts
    changed = [
        (one.text, other.text)
        for old, new in zip(before.topic.subtopics, after.topic.subtopics, strict=True)
        for one, other in zip(old.insights, new.insights, strict=True)
        if one != other
    ]
    assert len(changed) == 1
    assert [one.text for one in before.topic.documents] == [one.text for one in after.topic.documents]


def test_what_a_haystack_was_made_from_is_in_it(tmp_path: Path) -> None:
    world = make(small(tmp_path), seed=4, unlike=2)
    made_from = {"made_from": "templates", "pack": "small", "pack_version": 1, "seed": 4, "unlike": 2}
    assert made_from.items() <= world.topic.metadata.items()
    keys = {document.key for document in world.topic.documents}
    assert keys.isdisjoint(document.key for document in make(small(tmp_path), seed=4).topic.documents)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('kind = "choice", of', 'kind = "choise", of', r"pack.toml: slots.place: .*choise"),
        ('insight = "On a', 'insite = "On a', r"subtopics\[1\].facts\[1\].insight: Field required"),
        ("{pears} pears change hands.", "{plums} pears change hands.", r"goods.facts\[1\].insight: .*“plums”"),
        (
            "hands on a good day, {pears}",
            "hands on a good day, {pears|loud}",
            r"goods.facts\[1\].plain\[0\]: .*“loud”",
        ),
        ("[today|for now]", "[today]", r"genres\[0\].closings\[0\]: “\[today\]” must offer two"),
        ('rule = "start < 0.6 * rent"', 'rule = "start < 0.6 * toll"', r"slots.start.rule: “toll”"),
        ('id = "goods"', 'id = "rents"', "subtopic “rents” is there twice"),
        ('voice = "plain"', 'voice = "loud"', "rents.facts.0.: “plain” is neither a field nor the voice"),
        ("version = 1", "version = ", "pack.toml: Invalid value"),
        ("documents_per_fact = [2, 4]", "documents_per_fact = [4, 2]", "documents_per_fact: two numbers in order"),
    ],
)
def test_what_is_wrong_with_a_pack_is_said_with_its_place(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    with pytest.raises(UnreadablePack, match=problem):
        small(tmp_path, {old: new})


def test_parts_are_files_beside_the_pack_and_problems_name_them(tmp_path: Path) -> None:
    small(tmp_path)
    path = tmp_path / "pack.toml"
    text = path.read_text()
    head, rest = text.split("[[subtopics]]", 1)
    path.write_text('parts = ["two.toml"]\n' + head + "[[subtopics]]" + rest)
    (tmp_path / "two.toml").write_text('id = "three"\nname = "Three"\n')
    with pytest.raises(UnreadablePack, match=r"two.toml: description: Field required \(and 3 more\)"):
        read_pack(path)
    path.write_text('parts = ["../two.toml"]\n' + text)
    with pytest.raises(UnreadablePack, match="names of files beside it"):
        read_pack(path)


def test_a_pack_without_a_world_says_why(tmp_path: Path) -> None:
    with pytest.raises(NoWorld, match="“start”: no value is left"):
        make(small(tmp_path, {"start < 0.6 * rent": "start > rent"}), seed=1)
    with pytest.raises(NoWorld, match="differ from itself"):
        make(small(tmp_path), seed=1, unlike=1)
    with pytest.raises(NoWorld, match="a seed is a number"):
        make(small(tmp_path), seed=-1)


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("Pears change hands on a good day, {pears} of them.", "Pears change hands.", "lacks the slot “pears”"),
        ("A good day means", "It means", "opens with a pronoun"),
        ("Some {visitors} visitors wait", "{visitors} visitors wait", "begin with a word"),
        ("<> Nobody hurries.", "<> They hurry.", "a pronoun after a gap"),
        ("[today|for now]", "[today|for 2 days]", "a number in brackets"),
        ("Written on {day}.", "Written by her on {day}.", "“her” without a person of the cast"),
        ("Scales creak.", "Mr. Scales creaks.", "looks like the end of a sentence"),
        ("Gulls wait on the roof.", "On a good day many pears change hands.", "too close to “Pears”"),
        (
            "Pears change hands on a good day, {pears} of them.",
            "Fruit, {pears} pieces.",
            "too far from its insight",
        ),
    ],
)
def test_the_linter_sees_what_a_writer_overlooks(tmp_path: Path, old: str, new: str, finding: str) -> None:
    path = str(tmp_path / "pack.toml")
    small(tmp_path)
    before = linted(path)
    small(tmp_path, {old: new})
    more = [one for one in linted(path) if one not in before]
    assert any(finding in one for one in more), more


def linted(path: str) -> list[str]:
    return list(map(str, lint(read_pack(Path(path)))))


def test_the_command_lints_and_ends_with_a_status(tmp_path: Path) -> None:
    small(tmp_path)
    pack = tmp_path / "pack.toml"

    def linted(*options: str) -> str:
        out = StringIO()
        with pytest.raises(SystemExit):
            call_command("synthesize", "lint", str(pack), *options, stdout=out)
        return out.getvalue()

    few = {"where": "rents.facts[0]", "message": "2 renderings; 4 or more keep documents apart"}
    assert few in json.loads(linted("--json"))
    pack.write_text("id = 3")
    assert "pack.toml: id: Input should be a valid string" in linted()
    pack.write_bytes(b"\xff")
    assert "pack.toml: it is not UTF-8 text" in linted()


def test_the_command_makes_a_haystack_of_a_pack_of_ones_own(tmp_path: Path) -> None:
    small(tmp_path)
    out, err = tmp_path / "out.json", StringIO()
    call_command("synthesize", "pack", str(tmp_path / "pack.toml"), "--seed=5", f"--out={out}", stderr=err)
    assert "8 documents" in err.getvalue()
    assert output_of("synthesize", "pack", str(tmp_path / "pack.toml"), "--seed=5") == out.read_text()
    for arguments, message in [
        (["nowhere"], "There is no pack “nowhere”; there is baths"),
        ([], "Name a pack"),
        (["baths", "--seed=1", "--unlike=1"], "differ from itself"),
        ([str(tmp_path / "pack.toml"), "--out=/nowhere/x.json"], "No such file"),
    ]:
        with pytest.raises(CommandError, match=message):
            call_command("synthesize", "pack", *arguments, stdout=StringIO())
