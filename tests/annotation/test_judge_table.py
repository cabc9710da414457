"""The judge table of the agreement page: columns, order, chosen judges, files for papers, published costs."""

import re
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.text import slugify

from annotation.coverage.look import Look
from annotation.coverage.page import AGREEMENT, Figures
from annotation.models import Study
from benchmarks.models import AuditEvent, Judge
from benchmarks.results.sheet import Row
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import flat
from tests.running import csv_rows
from tests.sheets import rows_shown

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("charts_stay_empty")]
JUDGES = ("able", "brisk", "calm_&_co")


@pytest.fixture
def study(ada) -> Study:
    return make_labelled_study(summaries=make_summaries(), judges=JUDGES, researcher=ada)


def stored(study: Study) -> Figures:
    """The figures of a study as they are stored."""
    return AGREEMENT.compute(Look(study=study.pk))


def address(study: Study, *name: str) -> str:
    page = "annotation:study-figures-file" if name else "annotation:study-figures"
    return reverse(page, args=[study.uid, *name])


def key(name: str) -> str:
    return str(Judge.objects.get(name=name).uid)


def judges(client: Client, study: Study, **query) -> list[Row]:
    """The rows of judges, without those of people."""
    return [row for row in rows_shown(client, address(study), "judges", **query) if not row.is_people]


def names(client: Client, study: Study, **query) -> list[str]:
    return [row.names[0] for row in judges(client, study, **query)]


def table(client: Client, study: Study, **query) -> list[dict[str, str]]:
    response = client.get(address(study, "judges.csv"), query)
    return csv_rows(response.getvalue())


def heads(html: str) -> list[str]:
    head = html[html.index('<div id="judges"') :]
    head = head[: head.index("</thead>")]
    head = re.sub(r"<button .*?</div>", "", head, flags=re.DOTALL)  # the help on a measure
    return [flat(re.sub(r"<[^>]+>", "", one)).strip() for one in re.findall(r"<th .*?</th>", head, re.DOTALL)]


def test_the_main_figures_come_first_and_all_others_when_asked(as_ada, study: Study) -> None:
    main = heads(as_ada.get(address(study), {"view": "judges"}).text)
    assert main == ["Judge", "Pearson", "Linking %", "Exact %", "Quadratic κ", "n", "Invalid", "Cost, USD"]
    wide = heads(as_ada.get(address(study), {"view": "judges", "judges-columns": "1"}).text)
    assert wide[:5] == main[:5]
    assert {"Spearman", "Cohen κ", "Randolph κ", "Covered: TPR %"} <= set(wide)


def test_rows_are_sorted_by_any_column_and_back(as_ada, study: Study) -> None:
    """Names too; an unknown column changes nothing."""
    for name in ("pearson", "exact_agreement", "quadratic_kappa", "linking"):
        values = [row.number(name) for row in judges(as_ada, study, judges_sort=f"-{name}")]
        assert values == sorted(values, reverse=True)
        assert [row.number(name) for row in judges(as_ada, study, judges_sort=name)] == sorted(values)
    assert names(as_ada, study, judges_sort="judge") == list(JUDGES)
    assert names(as_ada, study, judges_sort="-judge") == list(reversed(JUDGES))
    assert names(as_ada, study, judges_sort="<script>") == names(as_ada, study)
    assert "<script>" not in as_ada.get(address(study), {"judges-sort": "<script>"}).text


def test_the_head_of_a_column_leads_to_its_order_and_keeps_the_filters(as_ada, study: Study) -> None:
    shown = as_ada.get(address(study), {"view": "judges", "summarizer": "alpha", "judges-sort": "-pearson"}).text
    kept = r"\?view=judges&amp;summarizer=alpha&amp;judges-sort="
    assert re.search(rf'aria-sort="descending"[^>]*>\s*<a [^>]*href="{kept}pearson"', shown)
    assert re.search(rf'<th [^>]*>\s*<a [^>]*href="{kept}-linking"[^>]*>Linking %</a>', shown)


def test_judges_are_hidden_from_every_table_and_file(as_ada, study: Study) -> None:
    chosen = [key("able"), key("brisk")]
    response = as_ada.get(address(study), {"view": "judges", "shown": chosen})
    sheet = response.context["sheet"]
    assert [row.names[0] for row in sheet.table("judges").rows if not row.is_people] == ["able", "brisk"]
    between = [row for row in sheet.table("differences").rows if set(row.names) <= set(JUDGES)]
    assert len(between) == 1
    for key_of_table in ("bias-summarizers", "ranking"):
        titles = {measure.title for measure in sheet.table(key_of_table).measures}
        assert titles & set(JUDGES) == {"able", "brisk"}
    text = response.text
    assert "calm_" not in text[text.index('class="answer"') : text.index('id="approval"')]
    listed = [row["judge"] for row in table(as_ada, study, shown=chosen)]
    assert listed == ["People among themselves", "Ceiling", "able", "brisk"]
    assert set(names(as_ada, study, shown="nobody")) == set(JUDGES)


def test_the_file_has_a_row_for_each_judge_with_all_figures(as_ada, study: Study) -> None:
    report = stored(study).judges
    rows = {row["judge"]: row for row in table(as_ada, study)}
    assert set(rows) == {"People among themselves", "Ceiling", *JUDGES}
    for one in report.rows:
        stat, (hits, n) = one.stats["pearson"], one.hits["linking"]
        row = rows[one.name]
        assert (float(row["pearson"]), float(row["pearson_low"])) == (stat.value, stat.low)
        own = one.stats["linking"].value == pytest.approx(hits / n)
        assert row["linking_note"] == (f"{hits} / {n}" if own else f"in all {hits} / {n}")
        assert (int(row["n"]), row["cost"]) == (one.n_insights, "")
    assert any(row["linking_note"].startswith("in all") for row in rows.values())


def test_the_table_downloads_as_latex(as_ada, study: Study) -> None:
    text = as_ada.get(address(study, "judges.tex")).getvalue().decode()
    assert r"\begin{table*}" in text
    assert "Pearson" in next(line for line in text.splitlines() if line.startswith("Judge & "))
    assert {line.split(" & ")[0] for line in text.splitlines() if line.endswith(r" \\")} >= {
        "People among themselves", "Ceiling", "able", "brisk", r"calm\_\&\_co",
    }  # fmt: skip
    name = study.name
    assert f"Study ``{name}''. " in text
    [made] = re.findall(r"Data version [0-9a-f]{12}\. Computed \d{4}-\d\d-\d\d\.", text)
    assert made
    assert rf"\label{{tab:{slugify(name)}-judges}}" in text
    assert text.startswith("% able is not approved")
    stat = stored(study).judges.rows[0].stats["pearson"]
    assert rf"{stat.value:.3f} {{\scriptsize ({stat.low:.3f}--{stat.high:.3f})$\dagger$}}" in text
    wide = as_ada.get(address(study, "judges.tex"), {"judges-columns": "1"}).getvalue()
    assert b"Spearman" in wide


def test_a_table_of_people_alone_says_nothing_of_judges(as_ada, study: Study) -> None:
    text = as_ada.get(address(study, "labels.csv")).getvalue().decode()
    assert text.startswith("label,agreement")
    assert "judge_approvals" not in text
    assert "approval" not in as_ada.get(address(study, "labels.tex")).getvalue().decode()


def test_a_published_cost_is_entered_and_shown_as_published(as_ada, study: Study, ada, as_ben) -> None:
    Judge.objects.filter(name="brisk").update(created_by=ada)
    judge = Judge.objects.get(name="brisk")
    cost = reverse("benchmarks:judge-cost", args=[judge.uid])
    assert "imported predictions come without their usage" in as_ada.get(address(study), {"view": "judges"}).text
    for wrong in ("much", "-1", "1e99", "nan"):
        as_ada.post(cost, {"published_cost": wrong})
    judge.refresh_from_db()
    assert judge.published_cost is None
    assert 'value="12.5000"' in as_ada.post(cost, {"published_cost": "12.5"}, follow=True).text
    row = next(one for one in judges(as_ada, study) if one.names[0] == "brisk")
    assert (row.number("cost"), row.value("cost").method) == (12.5, "as published")
    assert re.search(
        r"12\.50</span>\s*<span class=\"interval\">published", as_ada.get(address(study), {"view": "judges"}).text
    )
    assert "$12.5000" in as_ada.get(reverse("benchmarks:judges")).text
    assert names(as_ada, study, judges_sort="cost")[0] == "brisk"
    assert {one["judge"]: one["cost_note"] for one in table(as_ada, study)}["brisk"] == "published"
    event = AuditEvent.objects.get(action="judge.cost_set")
    assert (event.actor, Decimal(event.detail["cost"])) == (ada, Decimal("12.5"))
    assert as_ben.post(cost, {"published_cost": "1"}).status_code == 403
    as_ada.post(cost, {"published_cost": ""})
    judge.refresh_from_db()
    assert judge.published_cost is None


def test_only_imported_judges_have_a_published_cost(as_ada) -> None:
    as_ada.post(reverse("benchmarks:judge-offline"))
    offline = Judge.objects.get(name="lexical-2")
    assert (
        as_ada.post(reverse("benchmarks:judge-cost", args=[offline.uid]), {"published_cost": "1"}).status_code
        == 404
    )
