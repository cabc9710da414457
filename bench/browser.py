"""Chromium for `browsing`: `python -m bench.browser` reads a job as JSON and prints milliseconds."""

from __future__ import annotations

import json
import sys
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
READABLE = """() => {
  const [page] = performance.getEntriesByType("navigation");
  const [paint] = performance.getEntriesByName("first-contentful-paint");
  return Math.max(page.domContentLoadedEventEnd, paint ? paint.startTime : Infinity);
}"""
# From the moment at which the key came to the moment at which all handlers have run and the page is laid out.
WATCH = """(selector) => {
  window.keys = [];
  const field = document.querySelector(selector);
  window.addEventListener("input", (event) => { // the last of all that listen
    if (event.target !== field) return;
    document.body.getBoundingClientRect();
    field.getBoundingClientRect();
    window.keys.push(performance.now() - event.timeStamp);
  });
  field.focus();
}"""
BARE_SEARCH = """(query) => {
  const text = document.body.textContent, wanted = query.toLowerCase();
  const times = [];
  for (let length = 1; length <= wanted.length; length++) {
    const began = performance.now(), folded = text.toLowerCase(), part = wanted.slice(0, length);
    let hits = 0;
    for (let at = folded.indexOf(part); at !== -1; at = folded.indexOf(part, at + part.length)) hits++;
    times.push(performance.now() - began);
  }
  return times;
}"""


def run(job: dict[str, Any]) -> dict[str, float]:
    """Load both pages afresh in every round, type and search in the last one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=job["chromium"], args=ARGUMENTS)
        rounds = [_round(browser, job) for _ in range(job["rounds"])]
        browser.close()
    return {name: median(one[name] for one in rounds) for name in rounds[0]}


def _round(browser: Browser, job: dict[str, Any]) -> dict[str, float]:
    bare = _open(browser, job, job["bare"])
    found = {
        "bare_readable": bare.evaluate(READABLE),
        "bare_typing": _percentile(_keys(bare, "textarea", job["typed"])),
        "bare_search": max(bare.evaluate(BARE_SEARCH, job["query"])),
    }
    bare.context.close()
    requests: list[str] = []
    page = _open(browser, job, job["page"], requests)
    found["readable"] = page.evaluate(READABLE)
    page.wait_for_selector("[data-editor]:not([readonly])")
    found["requests"] = float(len(requests))
    found["typing"] = _percentile(_keys(page, "[data-editor]", job["typed"]))
    found["search"] = max(_keys(page, "[data-query]", job["query"]))
    found["hits"] = float("".join(filter(str.isdigit, page.inner_text("[data-count]").split(" ")[0])) or 0)
    page.context.close()
    return found


def _open(browser: Browser, job: dict[str, Any], path: str, requests: list[str] | None = None) -> Page:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies(
        [{"name": name, "value": text, "url": job["address"]} for name, text in job["cookies"].items()]
    )
    page = context.new_page()
    if requests is not None:
        page.on("request", lambda request: requests.append(request.url))
    answer = page.goto(job["address"] + path, wait_until="load")
    if answer is None or answer.status != 200:
        raise SystemExit(f"{path} could not be loaded")
    page.wait_for_timeout(300)
    return page


def _keys(page: Page, selector: str, text: str) -> list[float]:
    """Milliseconds that each key of the text took, typed at the pace of a person."""
    page.evaluate(WATCH, selector)
    page.keyboard.type(text, delay=30)
    times: list[float] = page.evaluate("() => window.keys")
    return times


def _percentile(times: list[float]) -> float:
    return sorted(times)[int(0.95 * (len(times) - 1))]


if __name__ == "__main__":
    print(json.dumps(run(json.load(sys.stdin))))
