"""Archives of every kind of study on the site that they come from, on an empty one, twice, and beside other work.

On its own site an archive changes nothing; elsewhere it becomes a closed study of its own, once, and no study that
is there gains or loses anything.
"""

from pathlib import Path
from typing import Any

import pytest
from django.db.models import Model
from django.urls import reverse

from annotation.models import Annotator, ExternalVerdict, Study
from annotation.studies.kind import work_of
from annotation.writing.scoring import people_system
from benchmarks.io import published
from benchmarks.models import AuditEvent, ImportJob, Insight, Judge, KeyPoint, KeyPointVerdict, Summary, Verdict
from tests.annotation.importing.test_archives import archived, fresh, imported, imported_with_errors, run
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.audit import test_altered_archives as small
from tests.audit.altering import read_members, sealed, write_members
from tests.by_day import some
from tests.conftest import make_user
from tests.makers import NOW, flat
from tests.makers_recall import make_judge
from tests.makers_topic import topic_json, write_topic

pytestmark = pytest.mark.django_db
KINDS = ("linking", "verification", "validation", "rating", "writing", "external")
COUNTED = {"writing": "sessions"}
"""What the preview counts, by kind; labels where nothing is said."""
TEXTS = ("- Six.\n- Four euros.\n- No bikes.", "- Six.\n- Five euros.\n- Bikes.")
Rows = dict[str, list[Any]]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def import_haystack() -> None:
    run("import_dataset", "summhay", write_topic(Path(), topic_json()))


def linking() -> Study:
    """Summaries of systems and texts of people, judged by imported judges and by one that works here."""
    summaries = make_summaries(n=4)
    first = summaries[0].subtopic
    summaries += [
        published.new_summary(first, people_system(), text, now=NOW, origin=Summary.Origin.SESSION)
        for text in TEXTS
    ]
    Summary.objects.bulk_create(summaries[4:])
    judge = make_judge("lexical")
    study = make_labelled_study(summaries=summaries)
    for summary in summaries:
        for insight in Insight.objects.filter(subtopic=summary.subtopic):
            about = {"judge": judge, "summary": summary, "insight": insight, "created_at": NOW}
            Verdict.objects.create(coverage="none", is_linked=False, **about)
    return study


def open_study(kind: str) -> Study:
    """A small open study of this kind, whose people have accounts."""
    if kind == "writing":
        import_haystack()
    study = linking() if kind == "linking" else small.KINDS[kind]()
    if kind != "external":
        Study.objects.filter(pk=study.pk).update(state=Study.State.OPEN)
    Study.objects.filter(pk=study.pk).update(card_notes={"ethics": "Board 7."})
    for member in study.memberships.filter(annotator__user=None) if kind != "external" else ():
        user = make_user(f"person{member.number}", "annotator")
        Annotator.objects.filter(user=user).delete()
        Annotator.objects.filter(pk=member.annotator_id).update(user=user, is_active=True)
    study.refresh_from_db()
    return study


def rows_of(*models: type[Model]) -> Rows:
    """All that the tables hold, but for audit log and jobs of imports."""
    chosen = models or [model for model in small.EVERY_TABLE if model not in {AuditEvent, ImportJob}]
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in chosen}


def is_nothing_new(report: dict[str, Any], kind: str) -> bool:
    counted = COUNTED.get(kind, "labels")
    return not any(report["created"].values()) and report["unchanged"][counted] > 0 and not report["warnings"]


@pytest.mark.parametrize("kind", some(KINDS, "linking", "writing"))
def test_the_archive_of_a_study_changes_nothing_on_its_own_site(kind: str, tmp_path: Path) -> None:
    study = open_study(kind)
    path, before = archived(study, tmp_path), rows_of()
    for args in (["--dry-run"], [], ["--name", study.name]):
        report = imported(path, *args)
        assert is_nothing_new(report, kind)
        assert report["into"] == [{"title": study.name, "is_new": False}]
        assert rows_of() == before


@pytest.mark.parametrize("kind", some(KINDS, "linking", "writing"))
def test_a_study_that_was_renamed_is_known_by_its_id(kind: str, tmp_path: Path) -> None:
    study = open_study(kind)
    path = archived(study, tmp_path)
    Study.objects.filter(pk=study.pk).update(name="Another name")
    before = rows_of()
    report = imported(path)
    assert is_nothing_new(report, kind)
    assert report["into"] == [{"title": "Another name", "is_new": False}]
    assert rows_of() == before


@pytest.mark.parametrize("kind", some(KINDS, "linking", "writing"))
def test_on_an_empty_site_it_becomes_a_closed_study_and_twice_changes_nothing(kind: str, tmp_path: Path) -> None:
    study = open_study(kind)
    judges = set(Judge.objects.values_list("name", "version"))
    n_texts = Summary.objects.count()
    path = archived(study, tmp_path)
    fresh()
    if kind == "writing":
        import_haystack()
    report = imported(path)
    assert report["created"][COUNTED.get(kind, "labels")] > 0
    assert report["into"] == [{"title": study.name, "is_new": True}]
    back = Study.objects.get()
    assert (back.uid, back.name, back.kind, back.state) == (study.uid, study.name, kind, "closed")
    assert back.card_notes == {"ethics": "Board 7."}
    assert not back.memberships.exclude(annotator__user=None, annotator__is_active=False).exists()
    if kind != "writing":
        assert set(Judge.objects.values_list("name", "version")) == judges
        assert Summary.objects.count() == n_texts
    of_second = archived(back, Path())
    before = rows_of()
    again = imported(path)
    assert is_nothing_new(again, kind)
    assert again["into"] == [{"title": study.name, "is_new": False}]
    assert rows_of() == before
    assert is_nothing_new(imported(of_second), kind), "the archive that the second site makes of it"
    assert rows_of() == before


@pytest.mark.parametrize("kind", some(KINDS, "linking", "writing"))
def test_beside_another_study_of_its_name_it_becomes_a_separate_one(kind: str, tmp_path: Path) -> None:
    name = (study := open_study(kind)).name
    path = archived(study, tmp_path)
    fresh()
    if kind == "writing":
        import_haystack()
    there = Study.objects.create(name=name, kind=kind, state=Study.State.OPEN, created_at=NOW)
    before = rows_of(Study)["Study"]
    assert imported(path, "--dry-run")["into"] == [{"title": f"{name} (archive)", "is_new": True}]
    assert imported_with_errors(path, "--name", name)["errors"][0]["kind"] == "other_study"
    imported(path)
    separate = Study.objects.exclude(pk=there.pk).get()
    assert (separate.name, separate.state) == (f"{name} (archive)", "closed")
    assert rows_of(Study)["Study"][:1] == before
    assert not there.memberships.exists()
    before_again = rows_of()
    assert is_nothing_new(imported(path), kind)
    assert rows_of() == before_again


@pytest.mark.parametrize("kind", ["linking", "verification", "validation", "rating"])
def test_a_copy_of_label_work_on_the_same_site_shares_judges_and_verdicts(kind: str, tmp_path: Path) -> None:
    study = open_study(kind)
    shared = [model for model in small.EVERY_TABLE if model._meta.app_label == "benchmarks"]
    shared = [model for model in shared if model not in {AuditEvent, ImportJob}]
    path, before = archived(study, tmp_path), rows_of(*shared)
    n_before = work_of(study).answers.model.objects.count()
    assert imported(path, "--name", "A copy")["created"]["labels"] == n_before
    assert rows_of(*shared) == before
    assert is_nothing_new(imported(path, "--name", "A copy"), kind)
    assert work_of(study).answers.model.objects.count() == 2 * n_before


def test_what_versions_of_a_judge_said_elsewhere_comes_back_as_theirs(tmp_path: Path) -> None:
    study = small.KINDS["external"]()
    second = Judge.objects.create(name="owl", version=2, kind="imported", config_sha256="2", created_at=NOW)
    ExternalVerdict.objects.create(study=study, judge=second, item="1", label="high", imported_at=NOW)
    path = archived(study, tmp_path)
    before, compared = read_members(path), ("labels.csv", "verdicts.csv", "figures.csv")
    assert b"owl v2,,1,high" in before["verdicts.csv"]
    assert not any(b"xena" in content for content in before.values())
    judges = rows_of(Judge)
    assert imported(path, "--name", "A copy")["created"] == {"labels": 4, "verdicts": 3}
    assert rows_of(Judge) == judges
    copy = read_members(archived(Study.objects.get(name="A copy"), tmp_path))
    assert [copy[name] for name in compared] == [before[name] for name in compared]
    path = archived(study, tmp_path)
    fresh()
    third = Judge.objects.create(name="owl", version=3, kind="imported", config_sha256="3", created_at=NOW)
    imported(path)
    again = read_members(archived(Study.objects.get(), tmp_path))
    assert [again[name] for name in compared] == [before[name] for name in compared]
    assert not third.external_verdicts.exists()


def test_an_archive_from_before_judges_said_anything_elsewhere_is_read(tmp_path: Path) -> None:
    members = read_members(path := archived(small.KINDS["external"](), tmp_path))
    older = {name: data for name, data in members.items() if not name.startswith("verdicts.")}
    fresh()
    assert imported(write_members(path, sealed(older)))["created"] == {"labels": 4}
    assert not ExternalVerdict.objects.exists()


def test_texts_of_people_stay_texts_of_people_on_another_site(tmp_path: Path) -> None:
    path = archived(linking(), tmp_path)
    fresh()
    imported(path)
    texts = Summary.objects.filter(system__kind="human")
    assert sorted(texts.values_list("origin", "text")) == [("session", text) for text in sorted(TEXTS)]


def test_a_judge_that_works_here_takes_no_verdicts_of_an_archive(tmp_path: Path) -> None:
    study = small.KINDS["verification"]()
    second = Judge.objects.create(name="strict", version=2, kind="imported", config_sha256="2", created_at=NOW)
    for point in KeyPoint.objects.all():
        about = {"judge": second, "key_point": point, "created_at": NOW}
        KeyPointVerdict.objects.create(judgment="grounded", answer="no", **about)
    path = archived(study, tmp_path)
    fresh()
    here = make_judge("strict")
    imported(path)
    assert not here.key_point_verdicts.exists()
    found = Judge.objects.filter(kind="imported").order_by("version")
    said = [(judge.version, set(judge.key_point_verdicts.values_list("answer", flat=True))) for judge in found]
    assert said == [(2, {"no"}), (3, {"yes"})]


def test_labels_that_changed_since_stay_as_they_are_and_the_report_says_so(tmp_path: Path) -> None:
    study = open_study("linking")
    path = archived(study, tmp_path)
    study.coveragelabels.latest("pk").delete()
    before = rows_of()
    report = imported(path)
    assert not any(report["created"].values())
    [warning] = report["warnings"]
    assert (warning["kind"], warning["count"]) == ("not_in_the_study", 1)
    assert rows_of() == before
    assert imported(path, "--name", "As it was")["into"] == [{"title": "As it was", "is_new": True}]


def test_the_study_of_somebody_else_is_named_as_such(tmp_path: Path, ada, login) -> None:
    study = open_study("verification")
    study.researchers.set([ada])
    path = archived(study, tmp_path)
    page = sent(login(make_user("zoe", "researcher")), path)
    assert "a study of somebody else" in page
    assert "Nothing was imported" in page


def test_labels_never_join_a_study_that_has_people_of_its_own(tmp_path: Path) -> None:
    study = open_study("linking")
    run("export_dataset", "summhay-eval-benchmark", "--study", study.name, "--out", "labels.json")
    Study.objects.filter(pk=study.pk).update(name="ferries: published labels")
    before = rows_of()
    with pytest.raises(SystemExit):
        run("import_dataset", "summhay-eval-benchmark", "labels.json", "--dataset", "ferries")
    assert rows_of() == before


def test_the_preview_says_into_which_study(tmp_path: Path, ada, as_ada) -> None:
    study = open_study("linking")
    study.researchers.add(ada)
    path = archived(study, tmp_path)
    assert f"Study: {study.name} (here already, nothing changes)" in sent(as_ada, path)
    assert "Study: A copy (new and closed)" in sent(as_ada, path, name="A copy")
    assert f"Study: {study.name} (here already, nothing changes)" in run("import_dataset", "archive", path)


def sent(client, path: Path, **options: str) -> str:
    """The page that previews an archive, without marks."""
    with path.open("rb") as file:
        data = {"format": "archive", "file": file, **options}
        answer = client.post(reverse("benchmarks:import-new"), data, follow=True)
    return flat(answer.text).replace("<strong>", "").replace("</strong>", "")


def test_the_archive_of_a_leaderboard_is_refused_as_one(tmp_path: Path) -> None:
    import_haystack()
    path = tmp_path / "board.zip"
    run("export_leaderboard", "--judge", "published", "--out", path)
    for is_empty in (False, True):
        if is_empty:
            fresh()
        before = rows_of()
        [error] = imported_with_errors(path)["errors"]
        assert (error["kind"], error["got"]) == ("leaderboard", "the archive of a leaderboard")
        assert rows_of() == before
