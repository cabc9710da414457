// The documents beside a label task: tabs that say where one is, highlights to step through, search in all of them.
import { place } from "../place.js";
import { watchPress } from "../press.js";
import { aimIn, isBox, rememberPlaces, reveal } from "./places.js";
import { showHits, startSearch } from "./search.js";

export function startDocuments(root, { address, find, text, announce, say, on, signal }) {
  const view = root.querySelector(".documents");
  const docs = [...view.querySelectorAll(".doc")], marks = [...view.querySelectorAll("[data-span]")];
  const tabs = new Map([...root.querySelectorAll("[data-jump]")].map((tab) => [tab.dataset.jump, tab]));
  const aim = aimIn(view, docs[0]);
  let current = null, at = -1;

  const setCurrent = (doc) => {
    if (!doc || doc === current) return;
    tabs.get(current?.dataset.number)?.removeAttribute("aria-current");
    current = doc;
    const tab = tabs.get(doc.dataset.number), row = tab.closest("ol");
    tab.setAttribute("aria-current", "true");
    const { left, right } = tab.getBoundingClientRect(), frame = row.getBoundingClientRect();
    if (left < frame.left || right > frame.right) row.scrollLeft += left - frame.left - frame.width / 2;
  };
  const inView = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
    setCurrent(aim.get() ?? docs.find((doc) => inView.has(doc)));
  }, { root: isBox(view) ? view : null, rootMargin: "-30% 0px -69% 0px" });
  for (const doc of docs) observer.observe(doc);
  signal.addEventListener("abort", () => observer.disconnect());

  const places = rememberPlaces({ key: address.pathname, view, docs, current: () => current, signal });
  const attend = (doc) => { aim.set(doc); setCurrent(doc); };
  const jump = (doc) => {
    if (!doc) return;
    places.go(doc);
    attend(doc);
  };
  const numbered = (number) => docs.find((doc) => doc.dataset.number === number);
  for (const [number, tab] of tabs) on(tab, "click", (event) => { event.preventDefault(); jump(numbered(number)); });

  function show(mark) {
    marks[at]?.classList.remove("is-now");
    at = marks.indexOf(mark);
    mark.classList.add("is-now");
    reveal({ startContainer: mark.firstChild, startOffset: 0, endContainer: mark.firstChild, endOffset: mark.firstChild.length }, view);
    attend(mark.closest(".doc"));
  }
  const tell = (message) => { find("mark-now").textContent = message; announce(message); };
  function step(by) {
    if (!marks.length) { tell(text("no-marks")); return; }
    const next = at < 0 ? (by > 0 ? 0 : marks.length - 1) : (at + by + marks.length) % marks.length;
    show(marks[next]);
    tell(text("mark", { now: next + 1, all: marks.length, document: marks[next].closest(".doc").dataset.number }));
  }
  for (const link of root.querySelectorAll("[data-to-span]")) on(link, "click", (event) => {
    const mark = marks.find(({ id }) => id === link.dataset.toSpan);
    if (!mark) return;
    event.preventDefault();
    show(mark);
  });

  // Back to the texts, where the answer may come to lie over a hit that is in sight
  const leave = { focus(how) {
    view.focus(how);
    const [hit] = CSS.highlights?.get("hit-now") ?? [];
    const { top, bottom } = hit?.startContainer.parentElement.getBoundingClientRect() ?? {};
    if (top < innerHeight && bottom > 0) reveal(hit, view);
  } };
  const search = startSearch({
    pane: view.parentElement, text, signal, leave, onHit: attend,
    onTranslated: (isTranslated) => say(isTranslated ? text("translated") : ""),
    parts: { form: find("search"), box: find("query"), count: find("count"), matchCase: find("match-case"), previous: find("hit-before"), next: find("hit-after") },
    onCounts: (found, counts, where) => found.forEach((doc, index) => {
      const tab = tabs.get(doc.dataset.number), badge = tab.querySelector(".tab-hits"), hits = counts[index];
      showHits(tab, where[index]);
      badge.textContent = hits ? text("found", { n: hits }) : "";
      badge.hidden = !hits;
    }),
  });

  // The row of the question, where it stays at the upper edge
  const row = find("asked-row"), whole = find("whole-question");
  const isCut = () => row.classList.contains("is-whole") || row.firstElementChild.scrollHeight > row.firstElementChild.clientHeight + 2;
  const fit = new ResizeObserver(() => { whole.hidden = !isCut(); });
  fit.observe(row.firstElementChild);
  signal.addEventListener("abort", () => fit.disconnect());
  on(whole, "click", () => whole.setAttribute("aria-expanded", String(row.classList.toggle("is-whole"))));
  // In use the search stays below it, wherever one reads.
  function openSearch() {
    find("search").classList.add("is-open"); // before the focus, which then moves nothing
    search.open();
  }
  // What makes room for it comes back after a press that has taken the focus, which would land beside its target.
  const isPressed = watchPress(on);
  function closeSearch() {
    if (isPressed()) setTimeout(closeSearch, 50);
    else find("search").classList.toggle("is-open", find("search").contains(document.activeElement));
  }
  on(find("search"), "focusin", () => find("search").classList.add("is-open"));
  on(find("search"), "focusout", () => setTimeout(closeSearch));
  on(find("to-search"), "click", openSearch);

  if (matchMedia("(hover: none)").matches) find("query").placeholder = find("query").getAttribute("aria-label"); // no key

  // Begin at the highlight; the keys that scroll work at once.
  if (marks.length) show(marks[0]); else if (places.last()) jump(places.last());
  place(view);
  return {
    open: (number) => jump(numbered(number)),
    isOnePage: () => !isBox(view),
    commands: {
      ...(find("mark-now") && { h: () => step(1), H: () => step(-1) }),
      d: () => jump(docs[Math.min(docs.length - 1, docs.indexOf(current) + 1)]),
      D: () => jump(docs[Math.max(0, docs.indexOf(current) - 1)]),
      "/": openSearch,
    },
  };
}
