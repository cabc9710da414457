"""The archive of a study: whole, as the single downloads are, without names, and its files import again."""

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.exports import archive
from annotation.models import CoverageLabel, Exposure, Session, Study
from benchmarks.models import AuditEvent, Haystack, KeyPoint, Question, Verdict
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.conftest import make_user
from tests.makers import (
    fill_missing,
    label_task,
    make_assignment,
    make_linking_study,
    make_session,
    make_writing_study,
)
from tests.makers_verification import make_questions, make_verification_study, say_all
from tests.queries import cost_of
from tests.running import csv_rows, json_of, output_of

pytestmark = pytest.mark.django_db


def opened(data: bytes) -> dict[str, bytes]:
    """The files of an archive by their names in its one folder."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len({name.partition("/")[0] for name in names}) == 1
        return {name.partition("/")[2]: archive.read(name) for name in names}


def archive_of(study: Study, client: Client, **query: str) -> dict[str, bytes]:
    response = client.get(reverse("annotation:study-archive-file", args=[study.uid]), query)
    assert response.status_code == 200
    files = opened(response.getvalue())
    manifest = json.loads(files["manifest.json"])
    assert {one["name"]: (one["sha256"], one["bytes"]) for one in manifest["files"]} == {
        name: (hashlib.sha256(content).hexdigest(), len(content))
        for name, content in files.items()
        if name != "manifest.json"
    }
    return files


@pytest.fixture
def linking(ada) -> Study:
    return make_labelled_study(summaries=make_summaries(n=10), researcher=ada)


def test_a_linking_study_is_whole_and_its_files_import_again(linking: Study, as_ada, tmp_path: Path) -> None:
    packed = archive_of(linking, as_ada, licence="CC BY 4.0")
    files = {name: content for name, content in packed.items() if not name.endswith(".parquet")}
    assert {
        "labels.csv", "labels.jsonl", "labels-history.csv", "labels-history.jsonl", "annotated-summaries.json",
        "adjudicated.csv", "annotators.csv", "verdicts.csv", "LICENCE.txt", "README.md",
        "manifest.json",
        "figures.json", "figures.csv", "judges.json", "datapackage.json", "croissant.json",
        "report_card.md", "report_card.json",
    } == {name for name in files if "/" not in name} - {"methods.md"}  # fmt: skip
    single = as_ada.get(reverse("annotation:study-labels", args=[linking.uid, "csv"]), {"for": "programs"})
    assert files["labels.csv"] == single.getvalue()
    everything = b"".join(files.values()).decode()
    assert not [name for name in ("anna", "bert", "cora") if name in everything]
    assert files["LICENCE.txt"] == b"CC BY 4.0\n"
    assert "CC BY 4.0" in files["README.md"].decode()
    own = json_of("report", "agreement", "--study", linking.name)
    before = {own["randolph"]}
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    of_file = ("--labels", tmp_path / "labels.csv", "--categories", "none,partial,full")
    assert json_of("report", "agreement", *of_file)["intervals"] == own["intervals"]
    output_of("import_labels", tmp_path / "labels.csv", "--study", "From the table")
    CoverageLabel.objects.filter(study=linking).delete()
    Verdict.objects.all().delete()
    output_of(
        "import_dataset", "summhay-eval-benchmark", tmp_path / "annotated-summaries.json", "--dataset", "back"
    )
    for name in ("From the table", "back: published labels"):
        before.add(json_of("report", "agreement", "--study", name)["randolph"])
    assert len(before) == 1
    assert Verdict.objects.filter(judge__name="strict").count() == 30


def test_texts_are_as_they_were_written_for_programs_and_guarded_for_spreadsheets(linking: Study, as_ada) -> None:
    address = reverse("annotation:study-labels", args=[linking.uid, "csv"])
    bullets = {label.summary.lines[line - 1] for label in linking.coveragelabels.all() for line in label.lines}
    assert {bullet[:1] for bullet in bullets} == {"-"}

    def column(content: bytes) -> set[str]:
        return {row["bullet_text"] for row in csv_rows(content)} - {""}

    for_people = column(as_ada.get(address).getvalue())
    for_programs = column(as_ada.get(address, {"for": "programs"}).getvalue())
    assert bullets <= for_programs
    assert {text[:1] for text in for_programs} == {"-"}
    assert for_people == {f"'{text}" for text in for_programs}
    files = archive_of(linking, as_ada)
    assert column(files["labels.csv"]) == for_programs
    assert {json.loads(line)["bullet_text"] for line in files["labels.jsonl"].splitlines()} - {""} == for_programs
    overview = as_ada.get(reverse("annotation:study", args=[linking.uid])).text
    assert f"{address}?which=current&amp;for=programs" in overview


def test_an_archive_holds_what_people_read_and_agreed_to(ada, as_ada, ben, cleo) -> None:
    study = make_linking_study(researcher=ada, annotators=[ben, cleo], people_per_item=2)
    Haystack.objects.update(content_sha256="0123456789abcdef")
    files = archive_of(study, as_ada)
    assert "guidelines/1.md" in files
    assert "consent/1.md" in files
    manifest = json.loads(files["manifest.json"])
    assert manifest["licence"] is None
    assert manifest["corpora"][0]["sha256"] == "0123456789abcdef"
    assert [row["annotator"] for row in csv_rows(files["annotators.csv"])] == ["annotator1", "annotator2"]
    assert label_task(study, ben)


def test_a_writing_study_has_its_sessions(ada, as_ada, ben) -> None:
    study = make_writing_study(researcher=ada, annotators=[ben])
    task = make_assignment(annotator=ben, study=study)
    session = make_session(
        assignment=task, state=Session.State.SUBMITTED, revisions=[(300_000, "- It leaves. [1]")]
    )
    fill_missing(session=session, now=timezone.now())
    files = archive_of(study, as_ada)
    assert {"sessions.csv", "events.jsonl", "revisions.jsonl.gz", "snapshots.jsonl", "curve.csv"} <= files.keys()
    assert csv_rows(files["sessions.csv"])[0]["annotator"] == "annotator1"
    assert "Ben" not in files["sessions.csv"].decode() + files["README.md"].decode()


def test_a_verified_dataset_imports_again(ada, as_ada, ben, tmp_path: Path) -> None:
    files = archive_of(answered_study(ada, ben), as_ada)
    assert {"dataset.jsonl", "dataset.jsonl.manifest.json", "key-points.csv", "labels-first.csv"} <= files.keys()
    n_kept = json.loads(files["dataset.jsonl.manifest.json"])["counts"]["key_points_kept"]
    path = tmp_path / "dataset.jsonl"
    path.write_bytes(files["dataset.jsonl"])
    output_of("import_dataset", "long2rag", path, "--dataset", "verified")
    assert KeyPoint.objects.filter(question__dataset="verified").count() == n_kept > 0
    assert Question.objects.filter(dataset="verified").exists()
    assert json.loads(files["manifest.json"])["corpora"][0]["kind"] == "question set"


def answered_study(ada, ben) -> Study:
    study = make_verification_study(questions=make_questions(n=2), annotators=[ben], researcher=ada)
    say_all(study, ["A", "N", "A", "x"])
    return study


def test_labels_made_elsewhere_come_back_as_they_went_in(as_ada, tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("annotator,item,label,cluster,links\nxena,1,yes,a,2;3\nyuri,1,no,a,\nxena,2,=no,b,\n")
    output_of("import_labels", path, "--study", "Elsewhere", "--categories", "yes,no,=no", "--researcher", "ada")
    files = archive_of(Study.objects.get(name="Elsewhere"), as_ada)
    rows = csv_rows(files["labels.csv"])
    assert [(row["annotator"], row["item"], row["label"], row["links"]) for row in rows] == [
        ("annotator1", "1", "yes", "2;3"), ("annotator2", "1", "no", ""), ("annotator1", "2", "=no", ""),
    ]  # fmt: skip
    about = json.loads(files["manifest.json"])["study"]
    assert (about["hourly_rate"], about["currency"]) == (None, None)
    assert as_ada.get(reverse("annotation:study-archive", args=[Study.objects.get().uid])).status_code == 200


def test_an_empty_study_has_an_archive_too(ada, as_ada) -> None:
    study = Study.objects.create(name="東京 <script>alert(1)</script>", kind="linking", created_at=timezone.now())
    study.researchers.add(ada)
    assert archive_of(study, as_ada)["annotated-summaries.json"] == b"[]\n"
    assert "<script>alert" not in as_ada.get(reverse("annotation:study-archive", args=[study.uid])).text


def test_without_an_extension_that_writes_methods_an_archive_has_none(
    linking: Study, as_ada, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_methods", [archive.Methods()])
    files = archive_of(linking, as_ada)
    assert "methods.md" not in files
    page = as_ada.get(reverse("annotation:study-archive", args=[linking.uid])).text
    for text in (page, files["README.md"].decode(), files["croissant.json"].decode()):
        assert "methods" not in text.lower()


def test_downloads_are_its_researchers_and_noted(linking: Study, ada, ben, eve, login) -> None:
    fay = make_user("fay", "researcher")
    for name in ("study-archive", "study-archive-file", "annotated-summaries"):
        address = reverse(f"annotation:{name}", args=[linking.uid])
        codes = [login(person).get(address).status_code for person in (fay, ben, ada, eve)]
        assert codes == [404, 403, 200, 200], name
    assert Exposure.objects.filter(user=ada, haystack=Haystack.objects.get()).exists()
    noted = AuditEvent.objects.filter(action="file.downloaded", actor=eve, object_uid=str(linking.uid))
    assert sorted(event.detail["file"] for event in noted) == [
        f"annotated-summaries-{linking.uid}.json", "ferry-links.zip",
    ]  # fmt: skip


def test_a_licence_that_is_too_long_is_refused(linking: Study, as_ada) -> None:
    address = reverse("annotation:study-archive-file", args=[linking.uid])
    response = as_ada.get(address, {"licence": "x" * 2_001})
    assert response.status_code == 422
    assert "2000 characters" in response.text
    assert not AuditEvent.objects.filter(action="file.downloaded").exists()


def test_the_command_writes_the_same_archive(linking: Study, tmp_path: Path) -> None:
    out = tmp_path / "archive.zip"
    assert "files in" in output_of("export_study", "--study", linking.name, "--out", out, "--licence", "CC0")
    assert json.loads(opened(out.read_bytes())["manifest.json"])["licence"] == "CC0"
    assert AuditEvent.objects.get(action="file.exported").object_uid == str(linking.uid)
    with pytest.raises(CommandError, match="There is no study"):
        output_of("export_study", "--study", "nothing", "--out", out)
    with pytest.raises(CommandError, match="cannot be written"):
        output_of("export_study", "--study", linking.name, "--out", tmp_path / "nowhere" / "x.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["archive.zip"]


def test_admins_find_everything_on_one_page(linking: Study, as_ada, as_eve) -> None:
    make_questions(n=1)
    address = reverse("annotation:exports")
    page = as_eve.get(address).text
    for text in (linking.name, "The ferries", str(Haystack.objects.get().uid), "with people"):
        assert text in page
    assert address in as_eve.get("/").text
    assert address not in as_ada.get("/").text
    with_people = reverse("annotation:haystack-with-people", args=[Haystack.objects.get().uid])
    assert as_eve.get(with_people).status_code == 200
    assert AuditEvent.objects.filter(action="file.downloaded", detail__file__endswith="-with-people.json").exists()


def test_the_page_of_exports_has_a_fixed_number_of_queries(as_eve) -> None:
    address = reverse("annotation:exports")
    make_labelled_study(summaries=make_summaries(n=2))
    assert cost_of(as_eve, address) == 7
    for number in range(12):
        make_labelled_study(summaries=make_summaries(n=2, dataset=f"more-{number}"), name=f"More {number}")
    assert cost_of(as_eve, address) == 7
