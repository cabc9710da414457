"""Making research groups, giving things to them, and what somebody sees while a request lasts."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from annotation.models import Annotator, RecruitmentLink, Study
from annotation.studies.lifecycle import move_study
from benchmarks import grouping
from benchmarks.access import sight
from benchmarks.engine import judging, versions
from benchmarks.io import formats
from benchmarks.io.haystacks import SUMMHAY
from benchmarks.io.plan import ImportRequest
from benchmarks.io.questions import LONG2RAG
from benchmarks.io.reading.files import File
from benchmarks.io.running import import_files
from benchmarks.io.sources import SOURCES
from benchmarks.models import AuditEvent, Haystack, ImportJob, JudgeRun, Question, ResearchGroup, Result
from benchmarks.results import computation, stored
from benchmarks.results.computation import Computation
from extensions.synthesis.packs.reading import shipped
from summhay_site.accounts.models import User
from summhay_site.accounts.recruits import recruit
from tests.conftest import make_user
from tests.makers import NOW, make_haystack, make_linking_study, make_summary
from tests.makers_verification import make_questions

pytestmark = [pytest.mark.django_db, pytest.mark.every_database]


@pytest.fixture
def gulls(ada, eve) -> ResearchGroup:
    """Ada's group."""
    group = grouping.make_group(name="Gulls", by=eve, now=NOW)
    grouping.set_members(group=group, members=[ada], by=eve, now=NOW)
    return group


@pytest.fixture
def terns(eve) -> ResearchGroup:
    """The group of another researcher, bob."""
    group = grouping.make_group(name="Terns", by=eve, now=NOW)
    grouping.set_members(group=group, members=[make_user("bob", "researcher")], by=eve, now=NOW)
    return group


EXAMPLES = Path(formats.__file__).parent / "examples"


def _filled(client: Client, path: str, **changes) -> dict[str, Any]:
    """What a form sends as it is shown, with changes."""
    form = client.get(path).context["form"]
    shown = {field.html_name: field.value() for field in form}
    return {name: value for name, value in {**shown, **changes}.items() if value not in (None, False)}


def test_admins_make_groups_and_choose_their_members(ada, as_ada, ben, as_eve) -> None:
    assert as_eve.post(reverse("groups"), {"name": "Terns"}).status_code == 302
    assert "Another group has this name" in as_eve.post(reverse("groups"), {"name": "TERNS"}).content.decode()
    group = ResearchGroup.objects.get()
    page = reverse("group", args=[group.uid])
    as_eve.post(page, {"name": "Common terns", "researchers": [ada.pk], "annotators": [ben.pk]})
    group.refresh_from_db()
    assert (group.name, set(group.members.all())) == ("Common terns", {ada, ben})
    as_eve.post(page, {"name": "Common terns", "annotators": [ben.pk]})
    assert set(group.members.all()) == {ben}
    for sent in ("1", "1", "0"):
        as_eve.post(reverse("group-archive", args=[group.uid]), {"archived": sent})
    actions = AuditEvent.objects.filter(action__startswith="group.").order_by("pk").values_list("action", "detail")
    assert [action for action, _detail in actions] == [
        "group.made",
        "group.renamed",
        "group.members",
        "group.members",
        "group.archived",
        "group.restored",
    ]
    assert actions[3][1] == {"came": [], "left": ["ada"]}
    assert as_ada.get(reverse("groups")).status_code == 403


@pytest.mark.needs("synthesis")
def test_forms_ask_for_a_group_only_where_there_is_a_choice(ada, as_ada, eve, as_eve) -> None:
    pages = ["/people/new/", "/corpora/import/", "/corpora/from-templates/", "/studies/linking/new/"]
    assert not [path for path in pages if 'name="group"' in as_ada.get(path).content.decode()]
    terns = grouping.make_group(name="Terns", by=eve, now=NOW)
    assert not [path for path in pages if 'name="group"' in as_ada.get(path).content.decode()]
    grouping.set_members(group=terns, members=[ada], by=eve, now=NOW)
    assert [path for path in pages if 'name="group"' in as_ada.get(path).content.decode()] == pages
    assert _filled(as_ada, pages[0])["group"] == terns.pk, "one's own group at first"
    assert "group" not in _filled(as_eve, pages[0]), "the whole site at first"
    grouping.set_archived(group=terns, is_archived=True, by=eve, now=NOW)
    assert 'name="group"' not in as_ada.get(pages[0]).content.decode()


def test_the_settings_of_a_study_of_the_whole_site_lead_to_giving_it_to_a_group(
    ada, eve, login, gulls: ResearchGroup
) -> None:
    study = make_linking_study(researcher=ada)
    move = reverse("annotation:study-group", args=[study.uid])
    settings = reverse("annotation:study-settings", args=[study.uid])
    for person in (ada, eve):
        client = login(person)
        assert f'href="{move}"' in client.get(settings).content.decode()
        assert client.post(move, {"group": gulls.pk}).status_code == 302
        assert f'href="{move}"' in client.get(settings).content.decode(), "as well once it is of one"
        assert client.post(move, {"group": ""}).status_code == 302


@pytest.mark.needs("synthesis")
def test_what_is_made_belongs_to_the_group_that_was_chosen(ada, as_ada, gulls: ResearchGroup) -> None:
    as_ada.post("/corpora/from-templates/", {"pack": shipped()[0], "seed": 3, "group": gulls.pk})
    as_ada.post(reverse("benchmarks:import-confirm", args=[ImportJob.objects.get().uid]))
    haystack = Haystack.objects.get()
    assert haystack.group == gulls
    as_ada.post("/people/new/", _filled(as_ada, "/people/new/", username="kim", name="Kim"))
    kim = User.objects.get(username="kim")
    assert set(gulls.members.all()) == {ada, kim}

    path = f"/studies/writing/new/?haystack={haystack.uid}"
    sent = _filled(as_ada, path, group="", annotators=[kim.annotator.pk])
    refused = as_ada.post("/studies/writing/new/", sent)
    assert refused.status_code == 422
    assert "belongs to another research group than the study" in refused.content.decode()
    assert not Study.objects.exists()
    assert as_ada.post("/studies/writing/new/", {**sent, "group": gulls.pk}).status_code == 302
    study = Study.objects.get()
    assert study.group == gulls
    as_ada.post(reverse("annotation:study-clone", args=[study.uid]), {"name": "Another"})
    assert Study.objects.get(name="Another").group == gulls

    link = RecruitmentLink.objects.create(
        study=study, id_parameter="PID", created_at=NOW, is_open=True, max_places=3
    )
    Study.objects.filter(pk=study.pk).update(state=Study.State.OPEN)
    recruited = recruit(link=RecruitmentLink.objects.get(pk=link.pk), panel_id="p1", references={}, now=NOW)
    assert recruited in gulls.members.all()


@pytest.mark.needs("synthesis")
def test_a_name_that_is_hidden_is_taken(as_ada, gulls: ResearchGroup, terns: ResearchGroup) -> None:
    sent = {"pack": shipped()[0], "seed": 3, "group": gulls.pk}
    as_ada.post("/corpora/from-templates/", sent)
    as_ada.post(reverse("benchmarks:import-confirm", args=[ImportJob.objects.get().uid]))
    Haystack.objects.update(group=terns)
    as_ada.post("/corpora/from-templates/", sent)
    job = ImportJob.objects.latest("pk")
    assert job.state == ImportJob.State.FAILED
    assert (
        "no other research group" in as_ada.get(reverse("benchmarks:import-job", args=[job.uid])).content.decode()
    )
    make_linking_study(haystack=Haystack.objects.get(), name="Taken")
    Study.objects.update(group=terns)
    own = make_haystack(key="own")
    path = f"/studies/writing/new/?haystack={own.uid}"
    assert (
        "Another study has this name"
        in as_ada.post("/studies/writing/new/", _filled(as_ada, path, name="Taken")).content.decode()
    )


@pytest.mark.parametrize(
    ("entry", "name", "model"),
    [
        (LONG2RAG, "long2rag.jsonl", Question),
        (SUMMHAY, "summhay.json", Haystack),
        (SOURCES, "sources.jsonl", Haystack),
    ],
)
def test_a_dataset_that_is_hidden_has_a_name_that_is_taken(
    entry, name: str, model, gulls: ResearchGroup, terns: ResearchGroup
) -> None:
    file = File(EXAMPLES / name, name, 10**9)

    def refused(dataset: str) -> list[str]:
        request = ImportRequest(now=NOW, options={"dataset": dataset}, group=gulls.pk)
        with sight.seeing(sight.Sight(frozenset([gulls.pk]))):
            return [str(error) for error in import_files(entry, [file], request=request).problems.errors]

    assert refused("cliffs") == []
    model.objects.update(group=terns, key=Concat(Value("other-"), F("key")))
    assert "no other research group uses" in "".join(refused("cliffs"))
    assert refused("stacks") == []
    model.objects.filter(dataset="stacks").update(dataset="cliffs", key=Concat(Value("own-"), F("key")))
    assert refused("cliffs") == [], "a name that this group uses, too"


def test_a_haystack_moves_with_its_questions_and_runs_unless_studies_elsewhere_stand_on_it(
    ada, as_ada, eve, gulls: ResearchGroup, terns: ResearchGroup
) -> None:
    haystack = make_haystack(created_by=ada)
    summary = make_summary(subtopic=haystack.subtopics.get(number=1))
    Question.objects.filter(pk=make_questions(2, dataset="harbours")[0].pk).update(haystack=haystack)
    judging.request_run(judge=versions.default_judge(now=NOW), subjects=[summary], reason="person", now=NOW)
    study = make_linking_study(summaries=[summary], researcher=ada)
    page = reverse("benchmarks:haystack-group", args=[haystack.uid])
    assert page in as_ada.get(reverse("benchmarks:haystack-detail", args=[haystack.uid])).content.decode()
    refused = as_ada.post(page, {"group": gulls.pk})
    assert (refused.status_code, f"“{study.name}”" in refused.content.decode()) == (422, True)

    move_study(study=study, to=gulls, by=eve, now=NOW)
    assert as_ada.post(page, {"group": terns.pk}).status_code == 422, "a group that she is not in is no choice"
    assert as_ada.post(page, {"group": gulls.pk}).status_code == 302
    assert Haystack.objects.get().group == gulls
    assert [row.group for row in Question.objects.order_by("pk")] == [gulls, None]
    assert list(JudgeRun.objects.get().groups.all()) == [gulls]
    with pytest.raises(grouping.CannotMove, match="belongs to another research group"):
        move_study(study=study, to=terns, by=eve, now=NOW)
    with pytest.raises(grouping.CannotMove, match="of a haystack"):
        grouping.move_questions(dataset="harbours", to=terns, users=[], by=eve, now=NOW)
    moved = AuditEvent.objects.get(action="haystack.moved")
    assert (moved.actor, moved.detail) == (ada, {"group": "Gulls"})

    assert as_ada.post(page, {"group": ""}).status_code == 302
    assert not JudgeRun.objects.get().groups.exists()
    Haystack.objects.update(created_by=eve)
    assert as_ada.post(page, {"group": gulls.pk}).status_code == 403


def test_researchers_see_annotators_of_their_groups_of_none_and_of_their_studies(
    ada, as_ada, ben, cleo, dot, eve, gulls: ResearchGroup, terns: ResearchGroup
) -> None:
    grouping.set_members(group=gulls, members=[ada, ben], by=eve, now=NOW)
    grouping.set_members(group=terns, members=[*terns.members.all(), cleo, dot], by=eve, now=NOW)
    assert {user.username for user in User.objects.visible_to(ada)} == {"ben"}
    kim = make_user("kim", "annotator")
    make_linking_study(researcher=ada, annotators=[dot]).memberships.update(left_at=NOW)
    assert set(User.objects.visible_to(ada)) == {ben, kim, dot}
    assert User.objects.visible_to(eve).count() == User.objects.count()
    people = as_ada.get("/studies/linking/new/").context["form"].fields
    assert set(people["annotators"].queryset) == set(Annotator.objects.exclude(user=cleo))
    assert not people["researchers"].queryset.filter(username="bob").exists()


@dataclass(frozen=True)
class Look:
    """Options of a computation for tests."""


@dataclass(frozen=True)
class Titles:
    """Figures of it."""

    titles: list[str]


@pytest.fixture
def listing() -> Iterator[Computation[Look, Titles]]:
    def titles() -> list[str]:
        return sorted(Haystack.objects.values_list("title", flat=True))

    made = Computation(
        "titles", Look, Titles, compute=lambda _look: Titles(titles()), facts=lambda _look: titles()
    )
    yield computation.register(made)
    del computation._computations["titles"]


@override_settings(RESULTS_AT_ONCE=False)
def test_stored_results_are_computed_in_the_sight_of_whoever_asks(
    ada, as_ada, eve, listing, gulls: ResearchGroup, terns: ResearchGroup
) -> None:
    make_haystack(key="g", title="Of the gulls", group=gulls)
    make_haystack(key="t", title="Of the terns", group=terns)
    bob = User.objects.get(username="bob")
    expected = {ada: ["Of the gulls"], bob: ["Of the terns"], eve: ["Of the gulls", "Of the terns"]}
    for person in expected:
        with sight.seeing(sight.of(person)):
            stored.look_up(listing, Look(), now=NOW, wait_s=0)
    for row in Result.objects.all():
        stored.compute(uid=row.uid, clock=lambda: NOW)
    for person, titles in expected.items():
        with sight.seeing(sight.of(person)):
            shown = stored.look_up(listing, Look(), now=NOW, wait_s=0)
        assert (shown.figures, shown.state) == (Titles(titles), "fresh")
    states = [reverse("benchmarks:result-state", args=[row.uid]) for row in Result.objects.all()]
    assert sorted(as_ada.get(path).status_code for path in states) == [200, 404, 404]


def test_the_sight_of_a_request_ends_with_its_body(as_ada, gulls: ResearchGroup) -> None:
    response = as_ada.get(reverse("benchmarks:haystack-download", args=[make_haystack(group=gulls).uid]))
    assert response.streaming
    assert sight.current() == sight.Sight(frozenset([gulls.pk]))
    b"".join(response.streaming_content)
    assert sight.current() is None


def test_the_sight_costs_one_query(ada, login, django_assert_num_queries) -> None:
    user = User.objects.get(pk=ada.pk)
    user.has_perm("benchmarks.view_haystack")
    with django_assert_num_queries(1):
        assert sight.of(user) is None
        sight.of(user)
    grouping.join(group_id=grouping.make_group(name="Gulls", by=None, now=timezone.now()).pk, people=[ada])
    user = User.objects.get(pk=ada.pk)
    user.has_perm("benchmarks.view_haystack")
    with django_assert_num_queries(1):
        assert sight.of(user) == sight.of(user) != None  # noqa: E711 - the same one
