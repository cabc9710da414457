"""Help for researchers: entries of the docs, found by words and opened beside measures."""

import re

import pytest
from django.utils.html import strip_tags

from benchmarks.web.help import ENTRY_OF, NOT_FOR_READERS, entries, entry_of

RANDOLPH = ENTRY_OF["randolph"]


@pytest.mark.parametrize("measure", ENTRY_OF)
def test_every_measure_with_help_has_an_entry(measure: str) -> None:
    entry = entry_of(measure)
    assert entry
    assert len(strip_tags(entry.short).split()) <= 60
    assert "--" not in entry.short


def test_an_entry_is_a_row_of_a_table_or_a_paragraph_with_all_that_follows_it() -> None:
    by_name = {entry.name: entry for entry in entries()}
    assert by_name[RANDOLPH].section == "Agreement"
    assert "(1 − Pₑ)</em>: 1 / q" in by_name[RANDOLPH].html
    assert "thresholds are settings" in by_name["Approval of a judge"].text
    assert not NOT_FOR_READERS & {entry.section for entry in entries()}


def test_links_stay_within_the_help_and_no_two_entries_share_an_anchor() -> None:
    assert set(re.findall(r'href="(.)', "".join(entry.html for entry in entries()))) <= {"#"}
    assert len({entry.slug for entry in entries()}) == len(entries())


def test_the_page_finds_entries_by_all_words_whatever_their_case(as_ada) -> None:
    page = as_ada.get("/help/", {"q": "RANDOLPH Kappa 1"}).text
    assert "1 / q" in page
    assert "Gwet" not in page
    part = as_ada.get("/help/", {"q": "zebra kappa"}, headers={"HX-Request": "true"}).text
    assert part.strip().startswith("<p")
    assert "zebra kappa" in part


def test_an_entry_opens_alone_and_its_measure_leads_to_it(as_ada) -> None:
    entry = entry_of("randolph")
    part = as_ada.get(f"/help/{entry.slug}/", headers={"HX-Request": "true"}).text
    assert "1 / q" in part
    assert "<html" not in part
    bias = entry_of("bias")
    whole = f"/help/{bias.slug}/"
    part = as_ada.get(whole, headers={"HX-Request": "true"}).text
    assert f'href="{whole}"' in part
    assert "Own family" not in part
    assert "Own family" in as_ada.get(whole).text
    assert as_ada.get("/help/no-such-thing/").status_code == 404


def test_help_is_for_researchers(as_ben) -> None:
    assert as_ben.get("/help/").status_code == 403
