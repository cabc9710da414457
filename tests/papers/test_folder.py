"""The folder to submit with a paper: what it holds, that it comes out again, and that changes are named."""

import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Study
from benchmarks.models import AuditEvent, Verdict
from extensions.papers.check import (
    MISSING,
    NoPaper,
    _changed,
    _changed_inside,
    _compared,
    _macros,
    _other_hashes,
    check_paper,
)
from extensions.papers.folder import Number, macro_of, slugs_of
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.running import output_of

NAME = "Ferry links 2"
ON_A_BUSY_MACHINE_S = 3600  # commands one after another, each on tables that are made anew


def run(*args) -> str:
    return output_of("paper", *args)


@pytest.fixture
def folder(db: None, tmp_path: Path) -> Path:
    summaries = make_summaries(n=8)
    make_labelled_study(summaries=summaries, name=NAME)
    unusable = Verdict.objects.filter(judge__name="kind", summary__in=summaries[:2])
    unusable.update(coverage="", lines=[], is_linked=False, is_valid=False)
    run("--out", tmp_path / "paper", "--study", NAME, "--no-charts", "--licence", "CC BY 4.0")
    return tmp_path / "paper"


def test_the_folder_holds_archive_tables_numbers_and_methods(folder: Path) -> None:
    manifest = json.loads((folder / "paper.json").read_text())
    assert set(manifest["files"]) == {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != "paper.json"
    }
    numbers = _macros(folder / "numbers.tex")
    text, about = numbers["FerryLinksTwoAgreementRandolph"]
    assert about.startswith("agreement · randolph; n = 24, 4 clusters; Randolph's kappa, q = 3")
    with zipfile.ZipFile(folder / "studies/ferry-links-2.zip") as zipped:
        figures = json.loads(zipped.read("ferry-links-2/figures.json"))
        assert zipped.read("ferry-links-2/LICENCE.txt") == b"CC BY 4.0\n"
    assert float(text) == pytest.approx(figures["people"]["randolph"], abs=5e-4)
    assert "Ferry links 2" in (folder / "methods.md").read_text()
    judges = (folder / "tables/ferry-links-2/judges.tex").read_text()
    assert r"\begin{table*}" in judges
    assert "Study ``Ferry links 2''. Data version" in judges
    numbers_json = {one["macro"]: one for one in json.loads((folder / "numbers.json").read_bytes())}
    assert numbers_json.keys() == numbers.keys()
    one = numbers_json["FerryLinksTwoAgreementRandolph"]
    with zipfile.ZipFile(folder / "studies/ferry-links-2.zip") as zipped:
        labels = hashlib.sha256(zipped.read("ferry-links-2/labels.csv")).hexdigest()
    assert one["item_set"] == {"n": 24, "clusters": 4, "file": "labels.csv", "sha256": labels}
    assert one["estimand"].startswith("Randolph's kappa")
    assert one["sha256"][:12] == about.rpartition("; ")[2]
    assert AuditEvent.objects.filter(action="file.exported").exists()


def test_a_folder_that_nobody_touched_has_no_changed_file(folder: Path) -> None:
    assert not list(_changed(folder, json.loads((folder / "paper.json").read_text())["files"]))
    assert not list(_changed_inside(folder / "studies/ferry-links-2.zip"))


def test_a_changed_file_a_changed_member_and_one_outside_are_named(folder: Path) -> None:
    files = json.loads((folder / "paper.json").read_text())["files"]
    (folder / "methods.md").write_text("All was perfect.\n")
    path = folder / "studies/ferry-links-2.zip"
    with_a_digit_changed(path, "figures.json")
    assert set(_changed(folder, files)) == {
        "methods.md has been changed since it was written",
        "studies/ferry-links-2.zip has been changed since it was written",
    }
    assert list(_changed_inside(path)) == ["ferry-links-2.zip: figures.json has been changed since it was written"]
    assert list(_changed(folder, {"../secret": "0"})) == ["../secret is missing"]


def with_a_digit_changed(path: Path, member: str) -> None:
    """Change the first digit of a kappa in a file of an archive."""
    other = path.with_suffix(".other")
    with zipfile.ZipFile(path) as zipped, zipfile.ZipFile(other, "w") as changed:
        for info in zipped.infolist():
            data = zipped.read(info)
            if info.filename.endswith(f"/{member}"):
                before = json.loads(data)["people"]["randolph"]
                data = data.replace(str(before).encode(), str(before + 0.1).encode())
            changed.writestr(info, data)
    shutil.move(other, path)


def test_numbers_that_differ_are_named_and_those_beyond_the_archive_are_not() -> None:
    stored = {
        "AOne": ("0.5", "judges · cost"),
        "ATwo": ("0.6", "kappa"),
        "AThree": ("1", "kappa"),
        "B": ("2", "x"),
    }
    again = {"AOne": ("0.7", ""), "ATwo": ("0.61", ""), "AThree": ("1", "")}
    different, n_same, unknown = _compared(stored, again, [("A", {"cost": "prices change"})])
    assert different == ("\\ATwo is 0.6 in numbers.tex, computed again 0.61 (kappa)",)
    assert (n_same, unknown) == (1, {"AOne": "prices change", "B": MISSING})


def test_studies_whose_names_look_alike_have_files_and_macros_of_their_own() -> None:
    names = ("Ferry links", "ferry-links", "港", "Ferrylinks")
    assert slugs_of(names) == [
        "ferry-links", "ferry-links-study-2", "study-3", "ferrylinks",
    ]  # fmt: skip
    assert slugs_of(("news/1", "news1", "港"), what="corpus") == ["news1", "news1-corpus-2", "corpus-3"]


def test_a_line_break_in_a_name_does_not_end_a_comment() -> None:
    line = Number("A", "1", "judges · x\n\\input{y}").line
    assert line.startswith("\\newcommand{\\A}{1}% judges · x \\input{y}; ")
    assert line.count("\n") == 1


def test_a_number_with_another_value_has_another_hash(folder: Path) -> None:
    path = folder / "numbers.json"
    assert list(_other_hashes(folder)) == []
    numbers = json.loads(path.read_bytes())
    numbers[0]["text"] = "0.999"
    numbers[1]["item_set"]["sha256"] = "0" * 64
    path.write_text(json.dumps(numbers))
    assert [problem.split()[0] for problem in _other_hashes(folder)] == [
        f"\\{one['macro']}" for one in numbers[:2]
    ]


def test_macros_have_letters_only() -> None:
    assert macro_of("ferry-2", "people_n", "Grounded? κ") == "FerryTwoPeopleNGrounded"
    assert macro_of("a" * 3, "10") == "AaaOneZero"


@pytest.mark.django_db
def test_what_is_no_such_folder_is_refused(tmp_path: Path) -> None:
    outside = '{"files": {}, "studies": [{"name": "a", "slug": "a", "archive": "/etc/hosts"}]}'
    for content in (None, "{}", "[]", "nonsense", '{"files": {}, "studies": [3]}', outside):
        if content is not None:
            (tmp_path / "paper.json").write_text(content)
        with pytest.raises(NoPaper):
            check_paper(tmp_path)
    with pytest.raises(CommandError, match="Name the studies"):
        run("--out", tmp_path / "new")
    with pytest.raises(CommandError, match="no study"):
        run("--out", tmp_path / "new", "--study", "none")
    assert not Study.objects.exists()


@pytest.mark.nightly
@pytest.mark.timeout(ON_A_BUSY_MACHINE_S)
def test_every_number_comes_out_again_from_the_archive_and_a_wrong_one_is_named(folder: Path) -> None:
    """It starts a site of its own with the program itself, several times."""
    problems, n_same, unknown = check_paper(folder)
    assert not problems
    assert n_same > 100
    assert len(unknown) < n_same / 4
    numbers = (folder / "numbers.tex").read_text()
    text, _about = _macros(folder / "numbers.tex")["FerryLinksTwoAgreementRandolph"]
    wrong = f"{float(text) + 0.1:.3f}"
    (folder / "numbers.tex").write_text(numbers.replace(f"Randolph}}{{{text}}}", f"Randolph}}{{{wrong}}}"))
    with_a_digit_changed(folder / "studies/ferry-links-2.zip", "figures.json")
    problems = check_paper(folder)[0]
    assert any(f"is {wrong} in numbers.tex, computed again {text}" in problem for problem in problems)
    assert any("figures.json has" in problem and "people.randolph" in problem for problem in problems)


@pytest.mark.nightly
@pytest.mark.timeout(ON_A_BUSY_MACHINE_S)
def test_the_leaderboard_of_the_published_haystack_comes_out_again(
    db: None, published: Path, tmp_path: Path
) -> None:
    """From its verdicts in the folder, on a site of its own."""
    call_command("import_dataset", "summhay", str(published / "topic_news1.json"), stdout=io.StringIO())
    run("--out", tmp_path / "paper", "--leaderboard", "--judge", "published", "--no-charts")
    assert list((tmp_path / "paper/tables").rglob("by-retriever.tex"))
    problems, n_same, unknown = check_paper(tmp_path / "paper")
    assert not problems
    assert n_same > 500
    assert len(unknown) < n_same / 20
