"""Two people say by keyboard what responses entail, blind; the researcher sees how far they confirm the judge."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.conftest import Site, at_item, press, saved, seated, until
from tests.e2e.test_session_looks import serious
from tests.e2e.test_verification_story import open_work

pytestmark = pytest.mark.browser
N_PAIRS = 6
QUERY = """
    SELECT l.answer, l.snippet_start, l.snippet_end, l.is_unsure FROM annotation_entailmentlabel l
    JOIN annotation_annotator a ON a.id = l.annotator_id
    JOIN annotation_labeltask t ON t.id = l.task_id
    WHERE a.label = ? AND t.position = ? AND l.is_current
"""
SELECT = """() => {
    const text = document.querySelector("[data-response]").firstChild, range = document.createRange();
    const start = text.data.indexOf("crane");
    range.setStart(text, start); range.setEnd(text, start + 6);
    getSelection().removeAllRanges(); getSelection().addRange(range);
}"""


def ready(page: Page, number: int) -> None:
    """Wait until a pair is there and takes keys."""
    at_item(page, f"{number} / {N_PAIRS}")


def answer_all(page: Page, keys: str, *, first: int) -> None:
    """Answer pairs in order; the last Enter leads to the end of the study."""
    for number, key in enumerate(keys.split(), first):
        ready(page, number)
        press(page, key)
        expect(page.locator(".validation.is-complete")).to_be_attached()
        press(page, "Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()


def test_two_people_validate_a_judge_by_keyboard_and_the_researcher_sees_its_accuracy(
    desk: Callable[[str], Page], site: Site, browser: Browser
) -> None:
    study = site.scenes["scene_validation.prepare"]["study"]
    wanda = desk("wanda")
    open_work(wanda)
    ready(wanda, 1)
    assert not [word for word in ("Dread", "secret-system", "The judge answered") if word in wanda.content()]
    press(wanda, "Enter")
    expect(wanda.locator("[data-announce]")).to_contain_text("Answer first whether")
    press(wanda, "m")
    expect(wanda.locator("[data-announce]")).to_contain_text("Select a passage")
    texts = wanda.evaluate(
        "document.querySelector('[data-response]').firstChild.data += '…'"
    )  # as a translation does
    press(wanda, "m")
    expect(wanda.locator("[data-message]")).to_contain_text("Your browser shows a translation")
    wanda.evaluate("text => { document.querySelector('[data-response]').firstChild.data = text; }", texts[:-1])
    press(wanda, "0")
    saved(wanda)
    wanda.evaluate(SELECT)
    press(wanda, "m")
    expect(wanda.locator("[data-response] mark")).to_have_text("crane")
    expect(wanda.locator("[data-quote]")).to_have_text("crane")
    saved(wanda)
    assert site.rows(QUERY, "Wanda", 1) == [("neutral", 19, 24, 0)]  # code points: 𝒜 is one
    # The same without a mouse: from the answer to the text and back, then sentence by sentence
    late: list[Route] = []
    wanda.route("**/choice/", lambda route: late.append(route))
    press(wanda, "M F6")
    expect(wanda.locator("[name=answer]:checked")).to_be_focused()
    press(wanda, "F6")
    expect(wanda.locator("[data-response]")).to_be_focused()
    press(wanda, "m ArrowDown Shift+ArrowDown")
    selected = wanda.evaluate("String(getSelection())")
    assert selected
    until(wanda, lambda: bool(late))
    late[0].continue_()  # an answer that is stored only now takes away no selection
    wanda.unroute("**/choice/")
    saved(wanda)
    press(wanda, "m")
    expect(wanda.locator("[data-response] mark")).to_have_text(selected)
    press(wanda, "u u")
    expect(wanda.locator("[data-response] mark")).to_have_text("crane")
    press(wanda, "y x")
    saved(wanda)
    press(wanda, "u")
    expect(wanda.get_by_label("not sure")).not_to_be_checked()
    assert serious(wanda) == []
    saved(wanda)
    wanda.reload()
    ready(wanda, 1)
    expect(wanda.locator("[data-response] mark")).to_have_text("crane")
    expect(wanda.locator("[name=answer]:checked")).to_have_value("yes")
    press(wanda, "Enter")
    answer_all(wanda, "n n y n n", first=2)

    with seated(browser, site, "wim") as wim:
        wim.clock.install()
        open_work(wim)
        ready(wim, 1)
        wim.clock.fast_forward("02:10")
        expect(wim.locator("[data-save-state]")).to_contain_text("Still reading?")
        wim.mouse.move(200, 200)
        expect(wim.locator("[data-save-state]")).to_contain_text("Answers are saved as you go")
        wim.clock.resume()
        answer_all(wim, "y n n y y n", first=1)
        assert "Wanda" not in wim.content()
    with seated(browser, site, "ada") as ada:
        ada.goto(f"/studies/{study}/validation/")
        assert serious(ada) == []
        ada.get_by_role("link", name="Results", exact=True).click()
        # The judge says yes, no, neutral twice: Wanda confirms all, Wim all but one
        row = ada.get_by_role("table", name="The judge against each annotator").get_by_role("row")
        expect(row.filter(has_text="Wanda")).to_contain_text("100")
        expect(row.filter(has_text="Wim")).to_contain_text("83.3")
        ada.get_by_text("How to read this", exact=True).click()
        expect(ada.get_by_text("Blind: annotators did not see the verdict.")).to_be_visible()
        assert serious(ada) == []
