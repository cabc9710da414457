"""Files of other tools: read by a mapping that is shown, may be changed, and is remembered by its name."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.external.kind import files_of
from annotation.models import ExternalLabel, ExternalVerdict, Study
from benchmarks import grouping
from benchmarks.io import jobs
from benchmarks.models import ImportJob, ImportMapping, Judge, Summary, Verdict
from tests.annotation.importing.test_label_pages import Login, confirmed, send, shown
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.conftest import make_user
from tests.running import told_by

pytestmark = pytest.mark.django_db
TOOLS = Path(__file__).parents[2] / "benchmarks" / "io" / "tools"
STUDIO = (TOOLS / "label_studio_full.json").read_bytes()
TWO = {"take-0": "", "take-1": "on", "task-1": "grounded", "value-1-0": "yes", "value-1-1": "no"}
"""Of Label Studio's questions only the second, whose values are Yes and No."""


def upload(client: Client, data: bytes = STUDIO, name: str = "export.json", **fields: str) -> ImportJob:
    return send(client, data, name, format="tool-labels", **{"study": "Points", **fields})


def choose(client: Client, job: ImportJob, **fields: str):
    columns = {"item": "data.point", "annotator": "annotator", "label": "value"}
    return client.post(reverse("benchmarks:import-mapping", args=[job.uid]), columns | fields)


def labels() -> set[tuple[str, str, str, str]]:
    return set(ExternalLabel.objects.values_list("annotator__label", "item", "task", "label"))


def test_a_file_is_shown_mapped_and_imported_and_the_next_one_needs_no_click(as_ada) -> None:
    job = upload(as_ada)
    assert (job.state, [name for name, _ in job.report["look"]["questions"]]) == (
        "checked", ["importance", "supported"],
    )  # fmt: skip
    page = shown(as_ada, job)
    assert "How the columns of Label Studio are read" in page
    assert "a cancelled annotation. It is left out." in page
    assert choose(as_ada, job, name="Points", **TWO).status_code == 302
    page = confirmed(as_ada, ImportJob.objects.get())
    assert labels() == {("1", f"p{n}", "grounded", said) for n, said in ((1, "yes"), (2, "no"), (3, "yes"))}
    again = upload(as_ada, study="More")
    assert (again.report["look"]["name"], again.report["look"]["rows"][0]["item"]) == ("Points", "p1")
    assert "read: as\n      “Points”" in shown(as_ada, again)
    confirmed(as_ada, again)
    assert ExternalLabel.objects.filter(study__name="More").count() == 3


def test_what_was_shown_is_imported_whatever_is_remembered_meanwhile(as_ada) -> None:
    job = upload(as_ada)
    choose(as_ada, upload(as_ada, study="Other"), name="Points", **TWO)
    confirmed(as_ada, job)
    assert {task for _who, _item, task, _label in labels()} == {"importance", "supported"}


def test_a_remembered_mapping_is_its_makers_and_its_groups(ada, as_ada, login: Login) -> None:
    mate, stranger = make_user("mia", "researcher"), make_user("sam", "researcher")
    group = grouping.make_group(name="Lab", by=ada, now=timezone.now())
    grouping.set_members(group=group, members=[ada, mate], by=ada, now=timezone.now())
    choose(as_ada, upload(as_ada, group=str(group.pk)), name="Points", **TWO)
    for user, name in ((mate, "Points"), (stranger, "")):
        assert upload(login(user), study=user.username).report["look"]["name"] == name
    job = upload(login(stranger), study="x", mapping="Points")
    assert "expected a remembered mapping (there is none), got the text “Points”" in shown(login(stranger), job)
    ImportMapping.objects.update(group=None)
    assert upload(login(mate), study="y").report["look"]["name"] == ""


def test_only_its_maker_forgets_a_mapping_and_the_file_is_still_read_so(ada, as_ada, login: Login) -> None:
    mate = make_user("mia", "researcher")
    group = grouping.make_group(name="Lab", by=ada, now=timezone.now())
    grouping.set_members(group=group, members=[ada, mate], by=ada, now=timezone.now())
    job = upload(as_ada, group=str(group.pk))
    choose(as_ada, job, name="Points", **TWO)
    other = upload(login(mate), study="Other")
    assert "Forget “Points”" not in shown(login(mate), other)
    for user, sent in ((mate, other), (mate, job), (make_user("sam", "researcher"), job)):
        assert login(user).post(reverse("benchmarks:import-forget", args=[sent.uid])).status_code == 404
    assert "Forget “Points”" in shown(as_ada, job)
    page = as_ada.post(reverse("benchmarks:import-forget", args=[job.uid]), follow=True).content.decode()
    assert ("“Points” is forgotten." in page, "Forget “Points”" in page) == (True, False)
    job.refresh_from_db()
    assert (job.report["look"]["name"], job.report["look"]["rows"][0]["item"]) == ("", "p1")
    assert not ImportMapping.objects.exists()
    assert as_ada.post(reverse("benchmarks:import-forget", args=[job.uid])).status_code == 404


def test_a_mapping_of_a_file_that_is_imported_is_forgotten_too(as_ada) -> None:
    job = upload(as_ada)
    choose(as_ada, job, name="Points", **TWO)
    confirmed(as_ada, job)
    assert as_ada.post(reverse("benchmarks:import-forget", args=[job.uid])).status_code == 302
    job.refresh_from_db()
    assert (job.state, ImportMapping.objects.count()) == ("done", 0)


def test_a_wrong_value_of_an_annotation_is_one_sentence(as_ada) -> None:
    broken = STUDIO.replace(b'"was_cancelled": true', b'"was_cancelled": "yes"')
    [error] = upload(as_ada, broken).report["errors"]
    assert error["message"] == "[3].annotations[0].was_cancelled: expected true or false, got the text “yes”."


def test_a_file_that_failed_by_its_mapping_waits_to_be_read_otherwise(as_ada) -> None:
    twice = b"rater,unit,verdict\nkim,1,good\nkim,2,bad\n"
    job = upload(as_ada, twice, "made.csv")
    assert job.state == "failed"
    page = choose(as_ada, job, item="unit", annotator="rater", label="nothing")
    assert page.status_code == 422
    assert "Choose from the list; “nothing” is not in it." in page.content.decode()
    choose(as_ada, job, item="unit", annotator="rater", label="verdict", categories="bad,good")
    job.refresh_from_db()
    assert (job.state, job.report["look"]["questions"]) == ("checked", [["", [["good", 1], ["bad", 1]]]])
    confirmed(as_ada, job)
    assert Study.objects.get().categories == ["bad", "good"]
    assert choose(as_ada, job, item="unit", annotator="rater", label="verdict").status_code == 302
    assert labels() == {("kim", "1", "", "good"), ("kim", "2", "", "bad")}


def test_a_failed_file_that_waits_is_forgotten_after_a_week(as_ada) -> None:
    upload(as_ada, b"rater,unit,verdict\nkim,1,good\nkim,2,bad\n", "made.csv")
    assert jobs.forget_unconfirmed(now=timezone.now()) == 0
    assert jobs.forget_unconfirmed(now=timezone.now() + timedelta(days=8)) == 1


def test_another_persons_file_cannot_be_mapped(as_ada, login: Login) -> None:
    job = upload(as_ada)
    assert choose(login(make_user("sam", "researcher")), job, **TWO).status_code == 404


def test_texts_of_a_file_are_texts_on_the_page(as_ada) -> None:
    evil = "<script>alert(1)</script>"
    line = {"instance_id": evil, "user_id": evil, "labels": {evil[:40]: {evil: "x"}}}
    page = shown(as_ada, upload(as_ada, json.dumps(line).encode(), "potato.jsonl"))
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert") >= 5


@pytest.mark.parametrize("data", [b"", b"\xff\xfe[\x00", b"[" * 99_999, b'{"qid": 1, "nuggets": {}}', b"null"])
def test_what_no_tool_writes_is_a_sentence(data: bytes, as_ada) -> None:
    job = upload(as_ada, data + b" ", "x.json")
    assert job.state == "failed"
    assert "crash" not in job.report
    assert "Nothing was imported" in shown(as_ada, job)


def test_suggestions_are_a_judge_beside_people(as_ada) -> None:
    job = upload(as_ada)
    choose(as_ada, job, **TWO)
    confirmed(as_ada, job)
    assert set(ExternalVerdict.objects.values_list("judge__name", "task", "item", "label")) == {
        ("tiny-judge", "grounded", f"p{n}", said) for n, said in enumerate(("yes", "yes", "no", "no"), 1)
    }
    assert Judge.objects.get().kind == Judge.Kind.IMPORTED
    assert Study.objects.get().memberships.count() == 1
    again = upload(as_ada)
    choose(as_ada, again, **TWO)
    again.refresh_from_db()
    assert again.report["unchanged"] == {"labels": 3, "verdicts": 4}


def test_files_of_several_people_hold_the_same_predictions(tmp_path: Path) -> None:
    for number, label in enumerate("xxyz", 1):
        rows = f"annotator,item,label,is_judge\nperson{number},1,x,\nowl,1,{label},true\n"
        (tmp_path / f"{number}.csv").write_text(rows)
    paths = [tmp_path / f"{number}.csv" for number in (1, 2, 3, 4)]
    args = ("--study", "Several", "--categories", "x,y,z")
    assert told_by("import_labels", *paths[:2], *args)[1]["created"]["verdicts"] == 1
    assert told_by("import_labels", *paths, *args)[1]["unchanged"]["verdicts"] == 2
    said = ExternalVerdict.objects.order_by("pk").values_list("judge__name", "judge__version", "label")
    assert list(said) == [("owl", 1, "x"), ("owl", 2, "y"), ("owl", 3, "z")]
    Judge.objects.all().delete()
    told_by("import_labels", *paths, "--study", "At once", "--categories", "x,y,z")
    assert list(said) == [("owl", 1, "x"), ("owl", 2, "y"), ("owl", 3, "z")]


def test_a_judge_stands_beside_people_on_the_page_of_agreement(as_ada) -> None:
    records = [
        {
            "id": f"r{n}", "fields": {"text": "t"},
            "suggestions": {"good": {"value": hint, "agent": "tiny-judge"}},
            "responses": {"good": [{"value": a, "user_id": "u1"}, {"value": b, "user_id": "u2"}]},
        }
        for n, (hint, a, b) in enumerate((("x", "x", "x"), ("z", "z", "x"), ("x", "z", "z"), ("z", "z", "z")))
    ]  # fmt: skip
    confirmed(as_ada, upload(as_ada, json.dumps(records).encode(), "argilla.json", categories="x,z"))
    page = as_ada.get(reverse("annotation:study-figures", args=[Study.objects.get().uid]))
    assert page.context["shown"].figures.people.cards["percent"].value == 0.75
    assert "tiny-judge" in page.content.decode()


def test_assignments_on_summaries_of_this_site_are_verdicts(ada, tmp_path: Path) -> None:
    make_labelled_study(summaries=make_summaries(n=2), people=(), judges=())
    lines = []
    for summary in Summary.objects.select_related("subtopic", "system"):
        nuggets = [
            {"id": insight.key, "text": insight.text, "assignment": "support"}
            for insight in summary.subtopic.insights.all()
        ]
        lines.append(json.dumps({"qid": summary.subtopic.key, "run_id": summary.system.key, "nuggets": nuggets}))
    path = tmp_path / "nuggets.jsonl"
    path.write_text("\n".join(lines))
    code, said = told_by("import_dataset", "tool-labels", path, "--study", "Nuggets", "--researcher", "ada")
    assert (code, said["created"]["verdicts"]) == (0, Verdict.objects.count())
    assert set(Verdict.objects.values_list("judge__name", "coverage")) == {("nuggetizer", "full")}


def test_the_command_takes_a_mapping_as_json_and_what_went_in_comes_out(tmp_path: Path) -> None:
    mapping = json.dumps({"questions": {"importance": {"is_taken": False}, "seconds": {"is_taken": False}}})
    path = TOOLS / "potato.jsonl"
    args = ("import_dataset", "tool-labels", path, "--study", "Potato", "--mapping")
    code, said = told_by(*args, mapping)
    assert (code, said["created"]["labels"], said["look"]["tool"]) == (0, 10, "Potato")
    put_in = {
        (line["user_id"], line["instance_id"], next(iter(line["labels"]["supported"])).lower())
        for line in map(json.loads, path.read_text().splitlines())
    }
    [file] = files_of(Study.objects.get(), timezone.now())
    written = [dict(zip(file.columns, row, strict=True)) for row in file.rows()]
    people = dict(
        zip(sorted({row["annotator"] for row in written}), sorted({who for who, *_ in put_in}), strict=True)
    )
    assert {(people[row["annotator"]], row["item"], row["label"]) for row in written} == put_in
    assert told_by(*args, mapping)[1]["unchanged"]["labels"] == 10
    for wrong, sentence in (
        ('{"label": "x"}', "mapping: expected one of the columns"),
        ('{"item": []}', "mapping.item: expected one or two names of columns"),
        ('{"questions": 3}', "mapping.questions"),
        ('{"x', "mapping: expected a JSON object"),
        ("Nothing", "mapping: expected a remembered mapping (there is none)"),
    ):
        code, said = told_by(*args, wrong)
        assert code == 1
        assert sentence in said["errors"][0]["message"]
