"""The agreement page: people first, judges below, every figure with what belongs beside it, and who reads what."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotator, Exposure, Study
from benchmarks.models import Judge, JudgeCall, JudgeRun, ModelPrice, Summary, Verdict
from benchmarks.results.stored import forget_all
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.conftest import make_user
from tests.makers import make_writing_study
from tests.queries import cost_of
from tests.running import csv_rows, json_of, output_of
from tests.sheets import rows_shown

pytestmark = pytest.mark.django_db
ALL = "/agreement/"


@pytest.fixture(scope="module")
def world(kept: None) -> None:
    """A study of ada's whose figures are stored."""
    ada = make_user("ada", "researcher")
    study = make_labelled_study(summaries=make_summaries(), researcher=ada)
    client = Client()
    client.force_login(ada, backend="summhay_site.authentication.AccountBackend")
    text(client, address(study))


@pytest.fixture
def study(world: None, db: None) -> Study:
    return Study.objects.get()


def address(study: Study, part: str = "", *args: str) -> str:
    name = "study-agreement-rows" if part == "-rows" else f"study-figures{part}"
    return reverse(f"annotation:{name}", args=[study.uid, *args])


def text(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200, url
    return response.content.decode()


def test_people_come_first_and_judges_below_on_the_same_items(as_ada, study: Study) -> None:
    shown = text(as_ada, address(study))
    places = [shown.index(part) for part in ('class="answer"', "Randolph&#x27;s κ (q = 3)", 'id="without"')]
    assert places == sorted(places)
    assert "People agree on 68 % of pairs of labels, κ 0.51 (95 % CI 0." in shown
    assert "36 items" in shown
    assert "6 subtopics (resampled" in shown
    assert "data version" in shown
    assert 'id="judges"' not in shown
    shown = text(as_ada, f"{address(study)}?view=judges")
    assert "kind agrees best with people: Pearson 0.59" in shown
    assert "strict is statistically tied with it." in shown
    assert shown.index("People among themselves") < shown.index("kind</a>")
    for view, said in (("bias", "Length: "), ("systems", "the highest score (")):
        shown = text(as_ada, f"{address(study)}?view={view}")
        assert said in shown
        assert shown.count("<svg") >= 1


def test_the_figures_on_the_page_are_those_of_the_command(as_ada, study: Study) -> None:
    judges = json_of("report", "judges", "--study", study.name)
    found = as_ada.get(address(study, "-file", "figures.json")).json()
    assert found["judges"] == judges
    assert found["people"] == json_of("report", "agreement", "--study", study.name)
    assert found["bias"] == json_of("report", "bias", "--study", study.name)


def test_a_figure_shows_its_value_and_interval(as_ada, study: Study) -> None:
    row = as_ada.get(address(study, "-file", "figures.json")).json()["judges"][0]
    interval = row["intervals"]["pearson"]
    shown = text(as_ada, f"{address(study)}?view=judges")
    assert f"{row['pearson']:.3f}" in shown
    assert f"{interval['low']:.3f} – {interval['high']:.3f}".replace("-", "−") in shown


def test_few_items_carry_a_badge_and_what_is_undefined_a_reason(as_ada, ada) -> None:
    few = make_summaries(n=4, dataset="buoys")
    small = make_labelled_study(summaries=few, people=("anna",), judges=("one",), name="Small", researcher=ada)
    shown = text(as_ada, f"{address(small)}?view=judges")
    assert "too few to interpret" in shown
    assert shown.count("‡ Too few items to interpret") == 1
    assert "imported predictions come without their usage" in shown
    shown = text(as_ada, address(small))
    assert "No item has labels from two annotators" in shown


def test_without_labels_the_page_says_what_to_do(login) -> None:
    rita = make_user("rita", "researcher")
    client = login(rita)
    assert "manage.py import_labels" in text(client, ALL)
    empty = make_labelled_study(summaries=[], people=(), judges=(), name="Empty", researcher=rita)
    assert "Figures appear with the first labels" in text(client, address(empty))


def test_without_judges_the_people_are_shown_alone(as_ada, ada) -> None:
    alone = make_labelled_study(summaries=make_summaries(dataset="buoys"), judges=(), name="Alone", researcher=ada)
    assert "People agree on" in text(as_ada, address(alone))
    assert "“manage.py run_judge” runs the offline judge" in text(as_ada, f"{address(alone)}?view=judges")


def test_filters_change_the_figures_and_stand_in_the_caption(as_ada, study: Study) -> None:
    shown = text(as_ada, f"{address(study)}?summarizer=alpha&annotator={Annotator.objects.get(label='anna').uid}")
    assert "18 items" in shown
    assert "filter: alpha, anna" in " ".join(shown.split())
    assert "No label is left under these filters" in text(as_ada, f"{address(study)}?domain=nowhere")
    assert "12 summaries" in text(as_ada, f"{address(study)}?clusters=summaries")
    assert text(as_ada, f"{address(study)}?reference=nobody&guideline=x&measure=x&judge=x")
    assert "the label most annotators gave" in text(as_ada, f"{address(study)}?view=judges&reference=majority")


def test_a_filter_keeps_the_order_of_every_table(as_ada, study: Study) -> None:
    orders = {"judges-sort": "-pearson", "pairs-sort": "-n", "without-sort": "without"}
    shown = text(as_ada, f"{address(study)}?{urlencode(orders)}")
    form = shown[shown.index('id="look"') : shown.index("</form>", shown.index('id="look"'))]
    assert dict(re.findall(r'<input type="hidden" name="(\S+)" value="(\S*)">', form)) == orders


def test_judges_are_taken_by_their_labels_or_by_what_they_expect(as_ada, study: Study) -> None:
    assert "Judges scored by" not in text(as_ada, address(study))
    Verdict.objects.filter(judge__name="strict", coverage="partial").update(p_partial=0.3, p_full=0.1)
    forget_all()
    assert "Judges scored by" in text(as_ada, f"{address(study)}?score=luck")
    url = address(study, "-file", "figures.json")
    found = {score: as_ada.get(f"{url}?score={score}").json() for score in ("label", "expected")}

    def rows(part: str, name: str) -> list[Any]:
        return [next(row for row in values[part] if row["judge"] == name) for values in found.values()]

    for part in ("judges", "bias", "ranking"):
        label, expected = rows(part, "kind")
        assert label == expected
    label, expected = rows("judges", "strict")
    assert (label["score"], expected["score"]) == ("label", "expected")
    assert label["pearson"] != expected["pearson"]
    assert label["exact_agreement"] == expected["exact_agreement"]
    assert "Pearson on the expected coverage" in expected["intervals"]["pearson"]["method"]
    label, expected = rows("bias", "strict")
    assert expected["overall"]["over_insights"] < label["overall"]["over_insights"]
    label, expected = rows("ranking", "strict")
    assert label["means"] != expected["means"]
    assert json_of("report", "judges", "--study", study.name, "--score", "expected") == found["expected"]["judges"]


def test_htmx_gets_the_figures_without_the_frame(as_ada, study: Study) -> None:
    part = as_ada.get(address(study), headers={"HX-Request": "true"}).content.decode()
    assert part.strip().startswith('<div id="figures" class="figures">')


def test_rows_behind_a_figure_are_sorted_by_dispute(as_ada, study: Study) -> None:
    response = as_ada.get(address(study, "-rows"))
    disputes = [row.dispute for row in response.context["rows"]]
    assert disputes == sorted(disputes, reverse=True)
    assert min(disputes) > 0
    assert "The ferry leaves at six" in response.content.decode()


def test_a_cell_of_a_confusion_matrix_leads_to_its_rows(as_ada, study: Study) -> None:
    judge = Judge.objects.get(name="kind")
    found = as_ada.get(address(study, "-file", "figures.json")).json()
    confusion = next(row for row in found["judges"] if row["judge"] == "kind")["confusion"]
    label = max(confusion["none"], key=lambda one: confusion["none"][one])
    url = f"{address(study, '-rows')}?between={judge.uid}&human=none&verdict={label}"
    rows = as_ada.get(url).context["rows"]
    assert rows
    for row in rows:
        said = {one.name: one.label for one in row.answers}
        assert said["kind"] == label
        assert "none" in {said.get(name) for name in ("anna", "bert", "cora")}
    apart = as_ada.get(f"{address(study, '-rows')}?between={judge.uid}").context["rows"]
    assert all(len({one.label for one in row.answers if one.name != "strict"}) > 1 for row in apart)


def test_a_pair_of_people_leads_to_the_rows_on_which_they_differ(as_ada, study: Study) -> None:
    sheet = as_ada.get(address(study)).context["sheet"]
    pair = sheet.table("pairs").rows[0]
    [of_first] = [row for row in sheet.table("matrix").rows if row.names[0] == pair.names[0]]
    cell = of_first.cell(pair.names[1])
    rows = as_ada.get(cell.url).context["page"].paginator.object_list
    assert len(rows) == round((1 - pair.number("percent")) * pair.number("n"))
    assert cell.value == pair.value("randolph")


def test_pages_of_rows_can_be_turned(as_ada, ada) -> None:
    many = make_summaries(n=20, dataset="buoys")
    large = make_labelled_study(summaries=many, name="Large", researcher=ada, noise=0.9)
    first = as_ada.get(address(large, "-rows"))
    second = as_ada.get(f"{address(large, '-rows')}?page=2")
    items = [{(row.insight_uid, row.summary_uid) for row in page.context["rows"]} for page in (first, second)]
    assert len(items[0]) == 20
    assert not items[0] & items[1]


@pytest.mark.parametrize(
    "name",
    [
        *("figures.csv", "agreement.csv", "matrix.csv", "pairs.csv", "labels.csv", "without.csv", "judges.csv"),
        *("confusion-1.csv", "differences.csv", "bias-summarizers.csv", "bias-length.csv", "ranking.csv"),
    ],
)
def test_every_table_downloads_as_csv(as_ada, study: Study, name: str) -> None:
    response = as_ada.get(address(study, "-file", name))
    rows = csv_rows(response.getvalue())
    assert len(rows) > 1
    assert all(None not in row for row in rows)


def test_what_is_undefined_is_empty_with_a_reason_in_csv(as_ada, study: Study) -> None:
    response = as_ada.get(address(study, "-file", "figures.csv"))
    rows = csv_rows(response.getvalue())
    cost = next(row for row in rows if row["figure"] == "cost" and row["row"] == "kind")
    assert (cost["value"], cost["reason"]) == ("", "imported predictions come without their usage")


@pytest.mark.parametrize("stem", ["forest", "scatter", "difference"])
@pytest.mark.parametrize("file_format", ["svg", "png", "pdf"])
def test_every_chart_downloads(as_ada, study: Study, stem: str, file_format: str) -> None:
    response = as_ada.get(address(study, "-file", f"{stem}.{file_format}"))
    assert response.status_code == 200
    assert response.content.startswith({"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[file_format])


@pytest.mark.parametrize("name", ["nothing.csv", "forest.gif", "x", "judges.json"])
def test_an_unknown_file_is_not_found(as_ada, study: Study, name: str) -> None:
    assert as_ada.get(address(study, "-file", name)).status_code == 404


def test_looking_records_that_insights_were_seen(as_ada, study: Study, ada) -> None:
    text(as_ada, address(study))
    assert list(Exposure.objects.values_list("user", "haystack__key", "reason")) == [(ada.pk, "ferries", "page")]


def test_a_new_label_or_verdict_shows_at_once(as_ada, study: Study) -> None:
    first = text(as_ada, f"{address(study)}?view=judges")
    Verdict.objects.filter(judge__name="kind").delete()
    second = text(as_ada, f"{address(study)}?view=judges")
    assert "kind</a>" in first
    assert "kind</a>" not in second


def test_a_judge_asked_again_is_compared_with_itself(as_ada, study: Study, now) -> None:
    first = list(Verdict.objects.filter(judge__name="kind"))
    for place, verdict in enumerate(first):
        same = place % 4 != 0
        Verdict.objects.create(
            judge=verdict.judge,
            summary=verdict.summary,
            insight=verdict.insight,
            repeat=1,
            coverage=verdict.coverage if same else {"none": "full"}.get(verdict.coverage, "none"),
            lines=[],
            is_linked=False,
            is_imported=True,
            created_at=now,
        )
    [row] = rows_shown(as_ada, address(study), "consistency")
    assert (row.names, row.value("repeats"), row.value("n")) == (("kind",), 2, 36)
    assert row.number("percent") == pytest.approx(27 / 36)
    found = as_ada.get(address(study, "-file", "figures.json")).json()
    assert found["consistency"][0]["percent"] == row.number("percent")


def test_a_model_judge_costs_what_its_calls_cost(as_ada, study: Study, now) -> None:
    judge = Judge.objects.get(name="kind")
    Judge.objects.filter(pk=judge.pk).update(kind="openai")
    run = JudgeRun.objects.create(judge=judge, created_at=now)
    JudgeCall.objects.create(
        cache_key="k",
        run=run,
        base_url="http://x/",
        model="sparrow",
        response_format="json_schema",
        state="answered",
        claimed_at=now,
        answered_at=now,
        prompt_tokens=1_000_000,
        completion_tokens=0,
    )
    forget_all()  # nothing but this test changes the kind of a judge

    def cost():
        rows = rows_shown(as_ada, address(study), "judges")
        return next(row.value("cost") for row in rows if row.names[0] == "kind")

    assert "no price for sparrow" in cost().undefined_reason
    ModelPrice.objects.create(
        model="sparrow", base_url="", valid_from="2020-01-01", input_per_million=3, output_per_million=5
    )
    assert cost().value == 3


def test_labels_imported_for_everybody_are_read_by_every_researcher(login) -> None:
    make_labelled_study(summaries=make_summaries(dataset="buoys"), name="Buoys")
    assert "36 insights of summaries" in text(login(make_user("rita", "researcher")), ALL)


def test_labels_of_several_studies_are_listed_and_never_mixed(as_ada, study: Study, ada, login) -> None:
    boats = make_labelled_study(summaries=make_summaries(n=6, dataset="boats"), name="Boats", researcher=ada)
    shown = text(as_ada, ALL)
    for one, n_items in ((study, 36), (boats, 18)):
        assert f'<a href="{address(one)}">{one.name}</a>' in shown
        assert f"{n_items} insights of summaries" in shown
    assert "54 insights" not in shown
    found = as_ada.get(address(boats, "-file", "figures.json")).json()
    assert f"{found['people']['randolph']:.3f}" in shown
    assert as_ada.get(f"{ALL}rows/").status_code == 404
    assert as_ada.get(f"{ALL}files/figures.json").status_code == 404
    assert "18 items" in text(as_ada, f"{ALL}?dataset=boats")
    assert as_ada.get(f"{ALL}?dataset=nothing").status_code == 404


def test_a_data_set_with_several_studies_is_one_comparison(as_ada, study: Study, ada) -> None:
    again = make_labelled_study(
        summaries=list(Summary.objects.all()), people=("dora",), judges=(), name="Again", researcher=ada
    )
    assert f"{ALL}?dataset=ferries" in text(as_ada, ALL)
    shown = text(as_ada, f"{ALL}?dataset=ferries")
    assert "4 annotators" in shown
    assert '<input type="hidden" name="dataset" value="ferries">' in shown
    assert again.name in text(as_ada, ALL)


def test_the_list_holds_only_what_one_may_see(study: Study, ada, eve, as_eve, login) -> None:
    others = text(login(make_user("rita", "researcher")), ALL)
    assert study.name not in others
    assert "No labels yet" in others
    for person in (ada, eve):
        assert study.name in text(login(person), ALL)
    assert as_eve.get(address(study, "-file", "figures.json")).status_code == 200


def test_a_writing_study_has_its_scores_there(as_ada, ada) -> None:
    writing = make_writing_study(researcher=ada)
    assert "No session has begun yet" in as_ada.get(address(writing), follow=True).text


def test_labels_made_elsewhere_have_the_same_page(as_ada, tmp_path, ada) -> None:
    rows = ["annotator,item,label"]
    rows += [f"{who},item-{n},{'good' if n % 3 else 'bad'}" for n in range(12) for who in ("a", "b")]
    rows += ["c,item-1,bad"]
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(rows))
    output_of("import_labels", path, "--study", "Elsewhere", "--researcher", "ada")
    study = Study.objects.get(name="Elsewhere")
    assert "12 items" in text(as_ada, address(study))
    assert "imported without texts" in text(as_ada, f"{address(study)}?view=judges")
    assert "item-1" in text(as_ada, address(study, "-rows"))


def test_rows_lead_to_summaries_of_systems_and_name_those_of_sessions(as_ada, study: Study) -> None:
    shown = text(as_ada, address(study, "-rows"))
    assert "/corpora/summaries/" in shown
    for summary in Summary.objects.all():
        Summary.objects.filter(pk=summary.pk).update(origin="session", text_sha256=str(summary.pk))
    forget_all()
    shown = text(as_ada, address(study, "-rows"))
    assert "/corpora/summaries/" not in shown
    assert "alpha" in shown


def test_the_page_takes_the_same_queries_whatever_the_size(as_ada, study: Study, ada) -> None:
    for_page = 17
    assert cost_of(as_ada, address(study)) == for_page
    many = ("anna", "bert", "cora", "dora", "emil")
    larger = make_labelled_study(
        summaries=make_summaries(n=40, dataset="boats"), people=many, judges=many, name="Larger", researcher=ada
    )
    assert cost_of(as_ada, address(larger)) == for_page
    # The studies of a data set have to be asked for, and whether there are labels without one.
    assert cost_of(as_ada, f"{ALL}?dataset=boats") == for_page + 2
