"""An annotator whose browser asks for German: she tries, labels by keys and writes, and reads no English."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import Site, at_item, log_in, opened, press, ready, saved, write
from tests.e2e.test_newcomer_story import examples, keys_of

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    with opened(browser, site, locale="de-DE") as context:
        yield context.new_page()


def test_an_annotator_labels_and_writes_in_german(page: Page) -> None:
    page.goto("/login/")
    expect(page.get_by_role("heading", name="Anmelden")).to_be_visible()
    log_in(page, "greta")
    expect(page.locator("html")).to_have_attribute("lang", "de")

    page.locator("a[href$='/go/']", has_text="Beginnen").click()
    [example] = examples("linking", language=".de")
    at_item(page, "1 / 1")
    expect(page.locator(".trial-banner")).to_contain_text("Probe, Beispiel 1 von 1")
    for at, keys in enumerate(keys_of("linking", example)):
        press(page, keys)
        expect(page.locator("[data-feedback]").nth(at)).to_contain_text("Richtig. Erwartete Antwort:")
        press(page, "Enter")
    page.get_by_role("main").get_by_role("link", name="Beginnen").click()
    at_item(page, "1 / 2")
    expect(page.get_by_role("radio", name="vollständig").first).to_be_visible()
    press(page, "1 b")
    expect(page.locator("[data-announce]")).to_have_text(
        "Wählen Sie zuerst „teilweise“ oder „vollständig“, dann den Stichpunkt."
    )
    press(page, "3 a")
    saved(page)
    expect(page.locator("[data-save-state]")).to_contain_text("Gespeichert")
    press(page, "u")
    expect(page.locator("[data-message]")).to_contain_text("Rückgängig gemacht: vollständig")
    n_insights = page.locator("[data-question]").count()
    press(page, " ".join(["3 a Enter"] * (n_insights - 1)))
    press(page, "1")
    saved(page)
    expect(page.locator("[data-done-count]")).to_have_text("1 erledigt")
    expect(page.locator("[data-onward]")).to_contain_text("Weiter")
    press(page, "f")
    expect(page.locator("[data-flagged]")).to_have_text("⚑ markiert")
    press(page, "?")
    expect(page.get_by_role("dialog", name="Richtlinien")).to_contain_text("vorige Aufgabe, nächste Aufgabe")
    press(page, "Escape")

    page.goto("/work/answers/")
    expect(page.get_by_role("heading", name="Ihre letzten Antworten")).to_be_visible()
    expect(page.locator(".answers-list li")).to_have_count(n_insights)
    expect(page.locator(".answers-list li").last).to_contain_text("vollständig, Stichpunkt „Boats leave at six“")
    expect(page.get_by_role("link", name="Öffnen oder ändern")).to_have_count(n_insights)

    page.goto("/work/")
    page.locator("a[href$='/start/']", has_text="Beginnen").click()
    page.get_by_label("Ich schreibe selbst").check()
    page.get_by_role("button", name="Uhr starten").click()
    ready(page)
    write(page, "- Die Fähre fährt um sechs. [1, 9]")
    saved(page)
    expect(page.locator("[data-save-state]")).to_contain_text("Gespeichert")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("heading", name="Pausiert")).to_be_visible()

    page.goto("/profile/")
    page.get_by_label("Sprache").select_option(label="English")
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_role("heading", name="Your profile")).to_be_visible()
