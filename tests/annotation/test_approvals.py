"""May a judge replace people: the page, files and report, approvals on record, and what pages say of them."""

import re
from collections.abc import Mapping
from types import MappingProxyType

import pytest
from django.contrib.auth.models import Group
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse

from annotation.approvals.computing import Scope, expired, outside
from annotation.models import Annotator, CoverageLabel, Exposure, JudgeApproval, Study
from annotation.people.removal import remove_work
from benchmarks.models import AuditEvent, Haystack, Judge, JudgeRun, Subtopic, Summary, Verdict
from benchmarks.results.judged import Judged, approval_notes
from benchmarks.results.stored import forget_all
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import NOW, flat, make_haystack
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db
SYSTEMS = ("alpha", "beta", "gamma", "delta")
WIDE = {"bias": "50", "spread": "50", "concordance": "50"}
"""Thresholds that any judge passes."""


@pytest.fixture
def study(ada) -> Study:
    """Six subtopics with four systems each, on two of which people see more than a coin would."""
    summaries = make_summaries(n=24, summarizers=SYSTEMS)
    return make_labelled_study(summaries=summaries, judges=("owl", "crow"), researcher=ada, noise=0.2)


def address(study: Study, *name: str) -> str:
    return reverse(f"annotation:study-approvals{'-file' if name else ''}", args=[study.uid, *name])


def shown(client: Client, url: str, **query) -> str:
    answer = client.get(url, query)
    assert answer.status_code == 200
    return flat(re.sub(r"<[^>]+>", " ", answer.content.decode()))


def report(*arguments: str):
    return json_of("report", "approval", *arguments)


def uid(name: str) -> str:
    return str(Judge.objects.get(name=name).uid)


def record(client: Client, study: Study, judge: str, **more):
    address = reverse("annotation:approval-record", args=[study.uid])
    return client.post(address, {"judge": uid(judge), **more}, follow=True)


def test_the_page_answers_for_one_judge_and_lists_all(as_ada, study: Study) -> None:
    page = shown(as_ada, address(study), judge=uid("owl"))
    assert "Bias: judge − people, mean over subtopics" in page
    assert re.search(r"owl is (not )?safe for absolute scores|whether owl is safe for absolute scores", page)
    assert "Coverage of 4 systems on 6 subtopics, labelled by 3 annotators." in page
    assert "crow" in page
    assert Exposure.objects.filter(user__username="ada").exists()


def test_page_files_and_report_have_the_same_figures(as_ada, study: Study) -> None:
    as_file = as_ada.get(address(study, "figures.json")).json()
    printed = report("--study", study.name)
    assert as_file["approvals"] == printed["approvals"]
    assert {row["judge"] for row in printed["approvals"]} == {"owl", "crow"}
    row = report("--study", study.name, "--judge", "owl")["approvals"][0]
    assert row["absolute"]["verdict"] in {"safe", "not safe", "not enough data"}
    assert row["thresholds"] == {"bias": 0.05, "spread": 0.05, "concordance": 0.9, "power": 0.8}
    assert row["scope"]["version"] == 1
    assert set(row["by_system"]) == set(SYSTEMS)
    assert "What it stands on" in output_of("report", "approval", "--study", study.name, "--judge", "owl")
    latex = as_ada.get(address(study, "parts.tex"), {"judge": uid("crow")})
    assert latex.status_code == 200
    card = latex.getvalue().decode()
    assert card.startswith(r"\begin{table*}")
    assert "Bias: judge $-$ people" in card
    assert f"Approval of the judge crow (version 1, settings crow) on {study.name}: absolute scores" in card
    assert r"4 systems on 6 subtopics" in card
    assert r"\label{tab:ferry-links-parts}" in card


def test_biases_by_domain_are_compared(as_ada, study: Study) -> None:
    here = Summary.objects.order_by("pk")[0].haystack
    here.domain = "ferries"
    here.save()
    there = make_haystack(key="elsewhere", domain="bees", golds=())
    Subtopic.objects.filter(haystack=here, number__gt=3).update(haystack=there)
    Summary.objects.filter(subtopic__haystack=there).update(haystack=there)
    [row] = report("--study", study.name, "--judge", "owl")["approvals"]
    assert [(one["domain"], one["n"]) for one in row["by_domain"]] == [("bees", 3), ("ferries", 3)]
    assert row["by_domain"][0]["intervals"]["to_others"]["low"] < row["by_domain"][0]["to_others"]
    assert 0 < row["domain_p"] <= 1
    page = shown(as_ada, address(study), judge=uid("owl"))
    assert "Bias by domain: owl" in page
    assert "Domains with the same bias would differ as much in" in page


def test_a_report_on_a_judge_that_is_not_there_names_those_that_are(study: Study) -> None:
    with pytest.raises(CommandError, match="no judge “jay” here; there are: crow, owl"):
        report("--study", study.name, "--judge", "jay")
    with pytest.raises(CommandError, match="above 0"):
        report("--study", study.name, "--bias", "-3")


def test_thresholds_come_from_the_address_and_nonsense_is_passed_over(as_ada, study: Study) -> None:
    wide = shown(as_ada, address(study), judge=uid("owl"), **WIDE)
    assert "owl is safe for absolute scores: it is within 50 points" in wide
    odd = shown(as_ada, address(study), judge="nobody", bias="nan", spread="<script>", concordance="-1")
    assert "≤ 5" in odd


def imitate(study: Study, name: str, *, instead: Mapping[str, str] = MappingProxyType({})) -> Judge:
    """A judge that says what Anna says, or something else instead."""
    judge = Judge.objects.create(name=name, kind="imported", config_sha256=name, created_at=NOW)
    for label in CoverageLabel.objects.filter(study=study, annotator__label="anna"):
        coverage = instead.get(label.coverage, label.coverage)
        lines = [2] if coverage != "none" else []
        Verdict.objects.create(
            judge=judge, summary=label.summary, insight=label.insight, coverage=coverage, lines=lines,
            is_linked=bool(lines), created_at=NOW,
        )  # fmt: skip
    return judge


def test_a_judge_that_repeats_people_is_safe_and_an_opposite_one_is_not(study: Study) -> None:
    imitate(study, "echo")
    imitate(study, "contrary", instead={"none": "full", "full": "none"})
    found = {row["judge"]: row for row in report("--study", study.name, "--annotator", "anna")["approvals"]}
    assert found["echo"]["absolute"]["verdict"] == found["echo"]["ranking"]["verdict"] == "safe"
    assert found["echo"]["bias"] == 0
    assert found["contrary"]["ranking"]["verdict"] == "not safe"


def test_a_jury_counts_as_fewer_votes_than_it_has_members(as_ada, study: Study) -> None:
    members = [uid("owl"), uid("crow")]
    jury = Judge.objects.create(
        name="both",
        kind="jury",
        config={"members": members, "score": "label"},
        config_sha256="both",
        created_at=NOW,
    )
    for verdict in Verdict.objects.filter(judge__name="owl"):
        verdict.pk, verdict.judge = None, jury
        verdict.save()
    row = report("--study", study.name, "--judge", "both")["approvals"][0]
    assert row["votes"]["members"] == 2
    assert 1 <= row["votes"]["effective"] <= 2
    assert "members err alike" in shown(as_ada, address(study), judge=uid("both"))
    page = reverse("benchmarks:judge-detail", args=[uid("both")])
    assert f"so they count as {row['votes']['effective']:.1f} independent judges" in shown(as_ada, page)
    assert f"on {row['votes']['n_items']} labelled insights" in shown(as_ada, page)
    run = JudgeRun.objects.create(judge=jury, state="done", reason="test", created_at=NOW)
    assert "independent judges" in shown(as_ada, reverse("benchmarks:judge-run", args=[run.uid]))
    CoverageLabel.objects.all().delete()
    assert "Not known: people have labelled nothing" in shown(as_ada, page)


# On record


def test_an_approval_on_record_is_shown_with_who_and_when_in_the_audit_log(as_ada, study: Study) -> None:
    assert "Not recorded yet" in shown(as_ada, address(study), judge=uid("owl"), **WIDE)
    assert "The result is on record" in record(as_ada, study, "owl", **WIDE).text
    made = JudgeApproval.objects.get()
    assert (made.absolute, made.judge.name, made.study) == ("safe", "owl", study)
    assert made.ranking == made.figures["ranking"]["verdict"]
    assert made.figures["thresholds"]["bias"] == 0.5
    assert made.scope["settings_sha256"] == "owl"
    assert AuditEvent.objects.get(action="approval.recorded").object_name == "owl"
    assert f"absolute scores safe, ranking {made.ranking}." in shown(as_ada, address(study), judge=uid("owl"))
    record(as_ada, study, "owl", bias="40", spread="50", concordance="50")
    assert JudgeApproval.objects.count() == 2


def test_beside_figures_of_some_of_the_labels_nothing_is_recorded(as_ada, study: Study) -> None:
    imitate(study, "echo")
    button, wide = "Record this result", {"judge": uid("echo"), **WIDE}
    assert button in shown(as_ada, address(study), **wide)
    assert button not in shown(as_ada, address(study), **wide, score="expected")


def test_not_enough_data_cannot_be_recorded(as_ada, study: Study) -> None:
    Subtopic.objects.filter(number__gt=2).delete()
    page = shown(as_ada, address(study), judge=uid("owl"))
    assert "There is not enough data to say whether owl is safe" in page
    assert "Not recorded yet" not in page
    assert "Record this" not in page
    assert "There is not enough data to approve this judge" in record(as_ada, study, "owl").text
    assert not JudgeApproval.objects.exists()


def test_the_page_opens_with_the_best_judge_and_not_with_the_first_by_name(as_ada, study: Study) -> None:
    imitate(study, "zebra")
    CoverageLabel.objects.filter(study=study).exclude(annotator__label="anna").delete()
    assert "zebra is safe for absolute scores" in shown(as_ada, address(study))
    assert "crow is safe" not in shown(as_ada, address(study))


def test_a_judge_is_tested_where_most_of_what_it_judged_is_labelled(as_ada, study: Study, ada) -> None:
    board = as_ada.get(reverse("annotation:leaderboard"), {"judge": uid("owl")}).text
    test = reverse("annotation:approval-test", args=[uid("owl")])
    assert f'href="{test}">Test owl' in flat(board)
    answer = as_ada.get(test)
    assert answer["Location"] == f"{reverse('annotation:approvals')}?dataset=ferries&judge={uid('owl')}"
    Haystack.objects.update(dataset="")
    assert as_ada.get(test)["Location"] == f"{address(study)}?judge={uid('owl')}"
    CoverageLabel.objects.all().delete()
    assert "People have labelled nothing that owl judged" in as_ada.get(test, follow=True).text


@pytest.mark.parametrize("page", ["licences/?dataset=ferries&judge=x", "studies/{uid}/licences/files/x.json"])
def test_addresses_of_before_lead_on(as_ada, study: Study, page: str) -> None:
    old = f"/{page.format(uid=study.uid)}"
    answer = as_ada.get(old)
    assert (answer.status_code, answer["Location"]) == (301, old.replace("licences", "approvals"))


def test_an_approval_on_labels_that_one_may_not_see_is_named_without_a_link(
    as_ada, study: Study, login, django_user_model
) -> None:
    url = reverse("annotation:approval-record-dataset")
    assert as_ada.post(url, {"dataset": "ferries", "judge": uid("owl"), **WIDE}).status_code == 302
    other = django_user_model.objects.create_user("gus", password="x")
    other.groups.add(Group.objects.get(name="researcher"))
    here = f"{reverse('annotation:approvals')}?dataset=ferries"
    for reader, is_linked in ((as_ada, True), (login(other), False)):
        page = reader.get(reverse("annotation:leaderboard"), {"judge": uid("owl")}).content.decode()
        assert "owl was tested on" in page or "owl is approved" in page or "owl is not approved: not" in page
        assert (here in page) is is_linked


def test_a_stranger_sees_and_records_nothing(study: Study, dot, ben, login) -> None:
    for person, status in ((dot, 403), (ben, 403)):
        assert login(person).get(address(study)).status_code == status
        assert record(login(person), study, "owl").status_code == status
    assert not JudgeApproval.objects.exists()


def test_an_approval_expires_with_the_version_of_the_judge_and_leaderboards_say_why(as_ada, study: Study) -> None:
    first, leaderboard = imitate(study, "echo"), reverse("annotation:leaderboard")
    page = {"judge": str(first.uid)}
    assert "No judge is approved for these data yet. Test echo" in shown(as_ada, leaderboard, **page)
    record(as_ada, study, "echo", **WIDE)
    assert "echo is approved: safe for absolute scores and for ranking" in shown(as_ada, leaderboard, **page)
    owl = shown(as_ada, leaderboard, judge=uid("owl"))
    assert "echo is approved for these data, this judge is not. Test owl" in owl
    JudgeApproval.objects.update(scope=JudgeApproval.objects.get().scope | {"lowest": 0.9, "highest": 0.9})
    assert re.search(
        r"No judge is approved for these data yet. echo was tested on \S+, which does not hold here: \d rows",
        shown(as_ada, leaderboard, **page),
    )
    second = Judge.objects.create(
        name="echo", version=2, kind="imported", config_sha256="other settings", created_at=NOW
    )
    Verdict.objects.filter(judge=first).update(judge=second)
    forget_all()
    expired_line = shown(as_ada, leaderboard, judge=str(second.uid))
    assert (
        "does not hold here: it is of version 1 of the judge, with other settings than version 2" in expired_line
    )
    assert "Expired" in shown(as_ada, address(study), judge=str(second.uid))
    anew = shown(as_ada, leaderboard, judge=str(second.uid))
    assert re.search(r"echo v2 was tested on \S+: \D+ for absolute scores", anew), "the newer test is told"


def test_the_approvals_of_a_dataset_are_on_a_page_of_their_own(as_ada, study: Study) -> None:
    page = reverse("annotation:approvals")
    assert "owl" in shown(as_ada, page, dataset="ferries")
    assert as_ada.get(page, {"dataset": "elsewhere"}).status_code == 404
    assert as_ada.get(page).status_code == 404
    recorded = as_ada.post(
        reverse("annotation:approval-record-dataset"),
        {"dataset": "ferries", "judge": uid("owl"), **WIDE},
        follow=True,
    )
    assert recorded.status_code == 200
    made = JudgeApproval.objects.get()
    assert (made.study, made.dataset) == (None, "ferries")
    file = as_ada.get(reverse("annotation:approvals-file", args=["figures.json"]), {"dataset": "ferries"})
    assert file.json()["n_annotators"] == 3


def test_an_approval_expires_and_loses_its_figures_with_labels_that_are_removed(as_ada, study: Study, ada) -> None:
    elsewhere = make_labelled_study(
        summaries=list(Summary.objects.all()), judges=(), researcher=ada, name="elsewhere", people=("emil", "fay")
    )
    for one in (study, elsewhere):
        record(as_ada, one, "owl", **WIDE)
    as_ada.post(reverse("annotation:approval-record-dataset"), {"dataset": "ferries", "judge": uid("owl"), **WIDE})
    remove_work(annotator=Annotator.objects.get(label="anna"), mode="deleted", by=None, now=NOW)
    left = {approval.study or approval.dataset: approval for approval in JudgeApproval.objects.all()}
    assert left[study].figures == left["ferries"].figures == {}
    assert left[elsewhere].figures["judge"] == "owl"
    assert "labels that it stood on were removed on" in shown(as_ada, address(study), judge=uid("owl"))
    assert "labels that it stood" not in shown(as_ada, address(elsewhere), judge=uid("owl"))
    record(as_ada, study, "owl", **WIDE)
    assert "It does not hold any more" not in shown(as_ada, address(study), judge=uid("owl"))


def test_what_is_said_of_judges_stands_in_files_and_on_the_console(as_ada, study: Study) -> None:
    says = "owl is not approved: no test of it against people is on record."
    name = "annotation:study-figures-file"
    files = ("figures.json", "figures.csv", "judge_approvals.csv", "judges.csv", "judges.tex")
    for file in files:
        answer = as_ada.get(reverse(name, args=[study.uid, file]))
        assert says in answer.getvalue().decode(), file
    assert says in output_of("report", "results", "--study", study.name)


def test_what_a_test_found_stands_in_the_banner_before_it_is_recorded(
    as_ada, study: Study, login, django_user_model
) -> None:
    imitate(study, "echo")
    CoverageLabel.objects.filter(study=study).exclude(annotator__label="anna").delete()
    agreement = reverse("annotation:study-figures", args=[study.uid])
    none = "No judge is approved for these data yet."
    assert none in shown(as_ada, agreement)
    assert "echo was tested" not in shown(as_ada, agreement)
    shown(as_ada, address(study), judge=uid("echo"))
    said, tested = shown(as_ada, agreement), r"echo was tested on \S+: safe for absolute scores and for ranking"
    assert re.search(rf"{none} {tested} \(not recorded\). What it stands on", said)
    assert "owl was tested" not in said, "only what was found safe, where there are several"
    assert f"{address(study)}?judge={uid('echo')}" in as_ada.get(agreement).text
    board = shown(as_ada, reverse("annotation:leaderboard"), judge=uid("owl"))
    assert re.search(rf"{none} owl was tested on \S+: (not safe|not enough data) for absolute scores", board)
    [note] = approval_notes(Judged((uid("echo"),), {"news"}))
    assert "no test of it against people is on record" in note.text, "it was not tested on news"
    [note] = approval_notes(Judged((uid("owl"),), {"news"}))
    assert "owl was tested on" in note.text, "what was not found safe is told of every use"
    other = django_user_model.objects.create_user("fay", password="x")
    other.groups.add(Group.objects.get(name="researcher"))
    [note] = approval_notes(Judged((uid("echo"),)), reader=other)
    assert (note.is_found_safe, note.url) == (True, ""), "named without a link"
    assert record(as_ada, study, "echo").status_code == 200
    assert "echo is approved: safe for absolute scores and for ranking" in shown(as_ada, agreement)
    study.coveragelabels.first().delete()
    shown(as_ada, address(study))
    assert "echo is approved: safe for absolute scores and for ranking" in shown(as_ada, agreement)


def test_all_judges_of_a_page_take_one_query(study: Study, ada, django_assert_num_queries) -> None:
    ferries = Judged((uid("owl"), Judge.objects.get(name="crow").pk), others=("jay", "jay v2"))
    for version in (1, 2):
        Judge.objects.create(
            name="jay", version=version, kind="imported", config_sha256=str(version), created_at=NOW
        )
    ada.get_all_permissions()  # a request knows them
    with django_assert_num_queries(1):
        found = approval_notes(ferries, reader=ada)
    assert [one.judge for one in found] == ["owl", "crow", "jay", "jay v2"]
    assert "approvals are tested on labels of coverage" in found[3].text


# Scopes


SCOPE = Scope("owl", 1, "a", (1,), ("news",), 0.2, 0.6)


def test_a_scope_expires_with_settings_guidelines_and_domains() -> None:
    assert not list(expired(SCOPE, SCOPE))
    reasons = list(expired(SCOPE, Scope("owl", 2, "b", (1, 2), ("news", "conversations"), 0.1, 0.9)))
    assert len(reasons) == 3
    assert "version 2" in reasons[0]
    assert "(version 2)" in reasons[1]
    assert "conversations" in reasons[2]


def test_an_approval_says_nothing_of_other_domains_and_of_scores_outside_of_its_range() -> None:
    assert not list(outside(SCOPE, Judged((), {"news", ""}, (0.2, 0.64, 0.16))))
    reasons = list(outside(SCOPE, Judged((), {"news", "law"}, (0.7, 0.05))))
    assert reasons == [
        "it was not tested on law",
        "2 rows score outside of the range that was tested (20 to 60)",
    ]
