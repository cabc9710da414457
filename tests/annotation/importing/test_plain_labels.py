"""Labels made elsewhere: a study of their own, all or nothing, and twice changes nothing."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError

from annotation.linking import files
from annotation.models import Annotator, CoverageLabel, ExternalLabel, Study
from benchmarks import grouping
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.schemas import plain_labels
from benchmarks.models import AuditEvent, Haystack, Summary
from benchmarks.web.downloads import csv_lines, json_lines
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.test_report import report
from tests.running import told_by

pytestmark = pytest.mark.django_db
ROWS = "annotator,item,label,links,cluster\na,1,good,2;3,x\nb,1,bad,,x\na,2,good,name,y\nb,2,,,y\n"


def run(path: Path, *args: str) -> tuple[int, Any]:
    return told_by("import_labels", path, *args)


def write(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def rows() -> list[int]:
    return [model.objects.count() for model in (Study, Annotator, ExternalLabel, CoverageLabel, AuditEvent)]


def test_labels_become_an_external_study_with_its_categories_in_order(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS)
    code, found = run(path, "--study", "Elsewhere", "--categories", "bad,fair,good")
    assert (code, found["created"], found["errors"]) == (0, {"labels": 3}, [])
    study = Study.objects.get()
    assert (study.kind, study.state, study.categories) == ("external", "closed", ["bad", "fair", "good"])
    label = ExternalLabel.objects.get(item="1", annotator__label="a")
    assert (label.label, label.links, label.cluster) == ("good", [2, 3], "x")
    before = rows()
    assert run(path, "--study", "Elsewhere", "--categories", "bad,fair,good")[1]["unchanged"] == {"labels": 3}
    assert rows() == before


def test_agreement_of_an_external_study_uses_its_categories(tmp_path: Path) -> None:
    text = "annotator,item,label\n" + "".join(
        f"{who},{item},{label}\n"
        for item, pair in enumerate(("NN", "FF", "NF", "FF"))
        for who, label in zip("ab", pair, strict=True)
    )
    run(write(tmp_path, text), "--study", "Three", "--categories", "N,P,F")
    found = report("agreement", "--study", "Three")
    assert (found["q"], found["randolph"]) == (3, pytest.approx(0.625))
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [("a", "b")]


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    code, found = run(write(tmp_path, ROWS), "--study", "Elsewhere", "--dry-run")
    assert (code, found["created"], sum(rows())) == (0, {"labels": 3}, 0)


@pytest.mark.every_database
def test_categories_of_the_file_are_used_with_a_warning(tmp_path: Path) -> None:
    found = run(write(tmp_path, "annotator,item,label\na,1,10\nb,1,9\n"), "--study", "Numbers")[1]
    assert [warning["kind"] for warning in found["warnings"]] == ["categories_from_file"]
    assert Study.objects.get().categories == ["9", "10"]


def test_a_label_that_changed_is_refused_with_its_row_and_nothing_is_in(tmp_path: Path) -> None:
    run(write(tmp_path, ROWS), "--study", "Elsewhere", "--categories", "bad,good")
    before = rows()
    changed = write(tmp_path, ROWS.replace("b,1,bad", "b,1,good") + "c,9,good,,z\n", "changed.csv")
    code, found = run(changed, "--study", "Elsewhere", "--categories", "bad,good")
    assert (code, found["n_errors"], rows()) == (1, 1, before)
    assert found["errors"][0]["message"].startswith("row 3.label: expected what was imported before, “bad”")
    # Other categories or another kind of study are refused
    found = run(write(tmp_path, ROWS), "--study", "Elsewhere", "--categories", "good,bad")[1]
    assert "expected those of the study, bad, good" in found["errors"][0]["message"]
    make_labelled_study(summaries=make_summaries(n=2), name="Links")
    found = run(write(tmp_path, ROWS), "--study", "Links")[1]
    assert "got a study of coverage linking" in found["errors"][0]["message"]


def test_two_tasks_on_the_same_items_live_side_by_side(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS)
    run(path, "--study", "Elsewhere", "--categories", "bad,good", "--task", "one")
    run(path, "--study", "Elsewhere", "--categories", "bad,good", "--task", "two")
    assert ExternalLabel.objects.count() == 6
    assert report("agreement", "--study", "Elsewhere", "--task", "two")["n_items"] == 2


def test_ratings_made_elsewhere_are_tasks_of_one_study(tmp_path: Path, as_ada) -> None:
    rows = [
        f"{who},s{item},{value},{aspect}"
        for aspect, values in (("overall", "45 22 33"), ("coherence", "31 12 54"))
        for item, pair in enumerate(values.split())
        for who, value in zip("ab", pair, strict=True)
    ]
    path = write(tmp_path, "\n".join(["annotator,item,label,task", *rows]))
    assert run(path, "--study", "Rated", "--categories", "1,2,3,4,5")[1]["created"] == {"labels": 12}
    assert report("agreement", "--study", "Rated", "--task", "overall")["percent"] == pytest.approx(2 / 3)
    with pytest.raises(CommandError, match="Name a task with --task: coherence, overall"):
        report("agreement", "--study", "Rated")
    address = f"/studies/{Study.objects.get(name='Rated').uid}/figures/"
    first = as_ada.get(address).context
    assert [name for name, _text in first["form"].fields["task"].choices] == ["coherence", "overall"]
    for query, share in (("", 0.0), ("?task=overall", 2 / 3), ("?task=other", 0.0)):
        people = as_ada.get(f"{address}{query}").context["shown"].figures.people
        assert people.cards["percent"].value == pytest.approx(share)


@pytest.mark.parametrize("by", ["uid", "keys", "published"])
def test_items_that_are_known_here_become_coverage_labels_beside_the_judges(tmp_path: Path, by: str) -> None:
    make_labelled_study(summaries=make_summaries(n=4), people=())
    lines = ["annotator,item,label,links"]
    label, prefix = 0, "summary_subtopic_" if by == "published" else ""
    for summary in Summary.objects.select_related("subtopic", "system"):
        for insight in summary.subtopic.insights.all():
            label += 1
            item = (
                f"{summary.uid}/{insight.uid}"
                if by == "uid"
                else f"{summary.subtopic.key}/{prefix}{summary.system.key}/{insight.key}"
            )
            lines.append(f"zoe,{item},{'partial,2' if label % 2 else 'none,'}")
    code, found = run(write(tmp_path, "\n".join(lines)), "--study", "Zoe")
    assert (code, found["created"]) == (0, {"coverage_labels": 12})
    assert CoverageLabel.objects.filter(is_imported=True, lines=[2], breaks_rule=False).count() == 6
    assert [row["n_insights"] for row in report("judges", "--study", "Zoe")] == [12, 12]
    assert run(write(tmp_path, "\n".join(lines)), "--study", "Zoe")[1]["unchanged"] == {"coverage_labels": 12}


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_an_export_of_this_site_comes_back_with_its_links(tmp_path: Path, kind: str) -> None:
    study = make_labelled_study(summaries=make_summaries(n=2), judges=())
    study.coveragelabels.exclude(coverage="none").update(lines=[2, 3], is_linked=True)
    if kind == "csv":
        text = "".join(csv_lines(tuple(files.COLUMNS), files.spaced(files.label_rows(study))))
    else:
        rows = (dict(zip(files.COLUMNS, row, strict=True)) for row in files.label_rows(study))
        text = b"".join(json_lines(rows)).decode()
    assert run(write(tmp_path, text, f"labels.{kind}"), "--study", "Back")[0] == 0
    values = ("summary", "insight", "coverage", "lines")
    back = CoverageLabel.objects.exclude(study=study)
    assert list(back.order_by("annotator__label", *values[:2]).values_list(*values)) == list(
        study.coveragelabels.order_by("annotator__label", *values[:2]).values_list(*values)
    )
    assert not back.filter(breaks_rule=True).exists()


def test_labels_on_texts_of_another_research_group_are_refused_by_the_check(tmp_path: Path, eve, now) -> None:
    study = make_labelled_study(summaries=make_summaries(n=2), judges=())
    path = write(tmp_path, "".join(csv_lines(tuple(files.COLUMNS), files.spaced(files.label_rows(study)))))
    assert run(path, "--study", "Back", "--dry-run")[0] == 0
    Haystack.objects.update(group=grouping.make_group(name="Terns", by=eve, now=now))
    code, found = run(path, "--study", "Back", "--dry-run")
    assert code == 1
    assert {error["kind"] for error in found["errors"]} == {"other_group"}
    assert run(path, "--study", "Back", "--dry-run", "--group", "terns")[0] == 0


def test_a_file_with_some_known_items_keeps_all_under_their_own_names(tmp_path: Path) -> None:
    [summary, *_] = make_summaries(n=2)
    insight = summary.subtopic.insights.all()[0]
    text = f"annotator,item,label\na,{summary.uid}/{insight.uid},none\na,something,full\n"
    found = run(write(tmp_path, text), "--study", "Mixed")[1]
    assert found["created"] == {"labels": 2}
    assert [(one["kind"], one["count"]) for one in found["warnings"]] == [("unknown_items", 1)]
    # A linked line must be a line of the summary
    text = f"annotator,item,label,links\na,{summary.uid}/{insight.uid},full,9\n"
    found = run(write(tmp_path, text), "--study", "Far")[1]
    assert found["errors"][0]["message"] == "row 2.links: expected lines 1 to 4 of the summary, got 9."


@pytest.mark.every_database
def test_ids_that_look_like_items_of_this_site_and_match_none_are_reported(tmp_path: Path) -> None:
    make_summaries(n=2)
    text = "annotator,item,label\na,subtopic9/gpt-4o/insight1,none\na,subtopic9/gpt-4o/insight2,full\n"
    found = run(write(tmp_path, text), "--study", "Published")[1]
    assert found["created"] == {"labels": 2}
    [warning] = found["warnings"]
    assert (warning["kind"], warning["count"]) == ("unknown_items", 2)
    assert "subtopic9/gpt-4o/insight1" in str(warning)


def test_the_study_goes_to_a_researcher_with_an_account(tmp_path: Path, ada) -> None:
    run(write(tmp_path, ROWS), "--study", "Elsewhere", "--researcher", "ada")
    assert list(Study.objects.get().researchers.all()) == [ada]
    with pytest.raises(CommandError, match="no account “nobody”"):
        run(write(tmp_path, ROWS), "--study", "Elsewhere", "--researcher", "nobody")


def test_jsonl_is_read_as_csv_is(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '{"annotator": "a", "item": 1, "label": "x", "links": [1, "n"]}\n\n'
        '{"annotator": "b", "item": "1", "label": null}\n',
        "labels.jsonl",
    )
    with plain_labels.opened(path, Problems()) as lines:
        found = plain_labels.read(lines, categories=("x",))
    assert (found.n_missing, [(row.item, row.links) for row in found.labels]) == (1, [("1", (1, "n"))])


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("{", "no_json"),
        ("[]", "wrong_type"),
        ('{"annotator": "a", "item": "1", "label": ["x"]}', "wrong_type"),
        ('{"annotator": "a", "item": "1", "label": "x", "links": {"a": 1}}', "unreadable_link"),
        ('{"annotator": "a", "item": "%s", "label": "x"}' % ("i" * 301), "wrong_value"),
    ],
)
def test_a_bad_line_of_jsonl_is_named(tmp_path: Path, line: str, kind: str) -> None:
    problems = Problems()
    with (
        plain_labels.opened(write(tmp_path, line, "labels.jsonl"), problems) as lines,
        pytest.raises(ImportFailed),
    ):
        plain_labels.read(lines, problems=problems)
    assert [(error.kind, error.where) for error in problems.errors][:1] == [(kind, "line 1")]


def test_the_example_is_valid(tmp_path: Path) -> None:
    with plain_labels.opened(write(tmp_path, plain_labels.EXAMPLE), Problems()) as lines:
        assert plain_labels.read(lines).categories == ("none", "partial", "full")


def test_a_byte_that_is_no_text_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(b"annotator,item,label\n" + b"".join(b"a,%d,x\n" % n for n in range(2000)) + b"\xe4,1,x\n")
    _code, found = run(path, "--study", "Elsewhere")
    assert [error["message"] for error in found["errors"]] == [
        "line 2002: expected text in UTF-8, got the byte 0xe4."
    ]


def test_a_spreadsheet_may_part_cells_by_semicolons(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeff" + ROWS.replace("2;3", '"2;3"').replace(",", ";").replace("\n", "\r\n"))
    code, found = run(path, "--study", "Elsewhere", "--categories", "bad,good")
    assert (code, found["created"], found["errors"]) == (0, {"labels": 3}, [])
    assert ExternalLabel.objects.get(item="1", annotator__label="a").links == [2, 3]


@pytest.mark.parametrize("head", ["", "sep=\t\r\n", "sep=;\r\n"])
def test_tabs_may_part_cells_and_a_line_before_the_head_may_say_what_does(tmp_path: Path, head: str) -> None:
    sign = ";" if ";" in head else "\t"
    text = ROWS.replace("2;3", '"2;3"').replace(",", sign)
    path = write(tmp_path, head + text, "labels.tsv")
    code, found = run(path, "--study", "Elsewhere", "--categories", "bad,good")
    assert (code, found["created"], found["errors"]) == (0, {"labels": 3}, [])
    path = write(tmp_path, head + text + sign.join("a3good") + "\n" + sign.join(["a", "4", "good", "", "", "x"]))
    assert run(path, "--study", "Elsewhere")[1]["errors"][-1]["where"] == f"row {7 + bool(head)}"


@pytest.mark.parametrize(
    ("row", "expected", "got"),
    [
        ('"label": null', "at least one label", "1 row without a label"),
        ('"coverage": "full"', "rows with the field label", "only annotator, coverage, item"),
    ],
)
def test_rows_without_any_label_are_refused_for_what_they_lack(
    tmp_path: Path, row: str, expected: str, got: str
) -> None:
    path = write(tmp_path, '{"annotator": "a", "item": "1", %s}\n' % row, "labels.jsonl")
    [error] = run(path, "--study", "Elsewhere")[1]["errors"]
    assert (error["expected"], error["got"]) == (expected, got)


def test_what_statistics_programs_write_for_nothing_is_no_category(tmp_path: Path) -> None:
    path = write(tmp_path, "annotator,item,label\na,1,yes\nb,1,NA\na,2,no\nb,2,NaN\n")
    _, found = run(path, "--study", "Elsewhere")
    assert Study.objects.get().categories == ["no", "yes"]
    assert [(row["kind"], row["count"]) for row in found["warnings"]] == [
        ("no_label", 2),
        ("categories_from_file", 1),
    ]
    assert run(path, "--study", "Named", "--categories", "yes,no,NA,NaN")[1]["created"] == {"labels": 4}


def test_names_in_two_normal_forms_are_one_and_other_spellings_are_told(tmp_path: Path) -> None:
    text = "annotator,item,label\na,caf\u00e9,Yes\nb,cafe\u0301,YES\na,x\u200b2,no\nb,x2,no\n"
    _, found = run(write(tmp_path, text), "--study", "Elsewhere")
    assert set(ExternalLabel.objects.values_list("item", flat=True)) == {"caf\u00e9", "x\u200b2", "x2"}
    alike = [row["example"] for row in found["warnings"] if row["kind"].endswith("s_alike")]
    assert alike == [
        "item: expected one spelling of each item, got “x2”, “x<U+200B>2”. They count as different.",
        "label: expected one spelling of each label, got “YES”, “Yes”. They count as different.",
    ]


@pytest.mark.parametrize("body", [b"\xff\xfe\x00", b'annotator,item,label\na,"1,x\n'])
def test_a_file_that_is_no_text_or_no_csv_is_refused(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(body)
    problems = Problems()
    with pytest.raises(ImportFailed), plain_labels.opened(path, problems) as lines:
        plain_labels.read(lines, problems=problems)
