// Literal search in documents: all hits counted at each key, painted by the Custom Highlight API.
import { Finder, Hits, PARTS, watchTexts } from "./finder.js";
import { reveal } from "./places.js";
import { isComposing } from "../keys.js";

const AROUND = 60; // signs of the text on each side of a hit in a list
const PAINTED = 1000; // hits painted at once around the current one; all are counted

// Draw where in a document there are hits, as ticks along its link from the beginning to the end: one bit for each part.
export function showHits(link, where) {
  if (link.dataset.where === String(where)) return;
  link.dataset.where = where;
  const stops = [];
  for (let part = 0; part < PARTS; part++) {
    stops.push(`${(where >>> part) & 1 ? "var(--hit-edge)" : "transparent"} ${(100 * part) / PARTS}% ${(100 * (part + 1)) / PARTS}%`);
  }
  if (where) link.style.setProperty("--where", `linear-gradient(to right, ${stops})`);
  else link.style.removeProperty("--where");
}

// `parts` are the form and its controls; `leave` is where Escape goes; `signal` ends it all.
// `onCounts(docs, counts, where)` is told of each search, `onSearch(details)` once somebody has stopped typing,
// `onFound()` likewise once the hits are known, `onHit(doc)` which document it has led to, `onTranslated(is)` when the browser has put other words into the documents,
// or has put them back.
export function startSearch({ pane, parts, text, leave, signal, onCounts, onFound = () => {}, onSearch = () => {}, onHit, onTranslated }) {
  const { form, box, count, matchCase, previous, next } = parts;
  let made = null; // the index is made once the page is there to be read, or when it is asked for
  const finder = () => made ??= new Finder(pane);
  const idle = window.requestIdleCallback ?? setTimeout;
  idle(() => {
    finder();
    idle(() => { // the first searches are several times slower than later ones: get them over with before anybody waits
      for (const often of ["e", "t"]) finder().ranges(finder().search(often, false).hits.slice(0, PAINTED));
    });
  });
  const paints = "highlights" in CSS;
  let hits = new Hits(), counts = [], where = [], current = -1, logged = "", isTranslated = false, timer, again;

  const paint = () => {
    if (!paints) return;
    const from = Math.max(0, current - PAINTED / 2);
    CSS.highlights.set("hit", new Highlight(...finder().ranges(hits.slice(from, from + PAINTED))));
    CSS.highlights.delete("hit-now");
  };
  const nDocuments = () => counts.reduce((n, each) => n + (each > 0), 0);
  const showCount = () => {
    const n = hits.length, documents = nDocuments();
    const found = !onCounts ? "found" : documents === 1 ? "hits-in-one" : "hits-in";
    const at = !onCounts ? "hits" : documents === 1 ? "hit-in-one" : "hit-in";
    const said = !box.value.trim() ? "" : !n ? text("no-hits") : current < 0 ? text(found, { n, documents }) : text(at, { now: current + 1, all: n, documents });
    count.textContent = [said, isTranslated && text("in-translation")].filter(Boolean).join(" · ");
    previous.disabled = next.disabled = !n;
  };
  const log = () => {
    const asked = `${matchCase.checked}:${box.value}`;
    if (!box.value.trim() || asked === logged) return;
    logged = asked;
    onSearch({ query: box.value, hits: hits.length, documents: nDocuments(), case: matchCase.checked });
  };
  const run = () => {
    ({ hits, counts, where } = finder().search(box.value, matchCase.checked));
    current = -1;
    paint();
    showCount();
    onCounts?.(finder().docs, counts, where);
    onFound();
    clearTimeout(timer);
    clearTimeout(again); // it would lose the hit that one is at by then
    timer = setTimeout(log, 1200);
  };
  const go = (step) => {
    if (!made) run(); // the nodes of the hits are gone
    const { length: all } = hits;
    if (!all) return;
    log();
    goTo(current < 0 ? (step > 0 ? firstInView() : all - 1) : (current + step + all) % all);
  };
  const goTo = (index) => {
    current = index;
    paint();
    const [range] = finder().ranges(hits.slice(current, current + 1));
    if (paints) CSS.highlights.set("hit-now", new Highlight(range));
    showCount();
    reveal(range, pane.querySelector(".documents"));
    onHit(range.startContainer.parentElement.closest(".doc"));
  };
  // The first hit in or below what is on screen, so that a search goes on from where one reads.
  const firstInView = () => {
    const top = pane.getBoundingClientRect().top;
    const reading = finder().docs.findIndex((doc) => doc.getBoundingClientRect().bottom > top + 40);
    const start = finder().nodes.find((each) => each.doc >= reading)?.start ?? 0;
    return Math.max(0, hits.firstFrom(start));
  };
  watchTexts(pane.querySelector(".documents"), { signal, act(differs) {
    made = null;
    clearTimeout(again);
    again = setTimeout(run, 200); // a translation comes in many pieces
    if (differs !== isTranslated) onTranslated(isTranslated = differs);
  } });
  const on = (target, type, act) => target.addEventListener(type, act, { signal });
  on(box, "input", run);
  on(matchCase, "change", run);
  for (const [button, step] of [[previous, -1], [next, 1]]) {
    on(button, "click", () => go(step));
    // By touch the focus stays where it is, and so do a keyboard on the screen and the rows.
    on(button, "pointerdown", (event) => { if (event.pointerType !== "mouse") event.preventDefault(); });
  }
  on(form, "submit", (event) => { event.preventDefault(); go(1); });
  on(box, "keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey && !isComposing(event)) { event.preventDefault(); go(-1); }
  });
  on(form, "keydown", (event) => {
    if (event.key !== "Escape" || isComposing(event)) return;
    event.preventDefault();
    event.stopPropagation();
    leave.focus({ preventScroll: true });
  });
  signal?.addEventListener("abort", () => {
    clearTimeout(again);
    if (paints) for (const name of ["hit", "hit-now"]) CSS.highlights.delete(name);
  });
  return {
    open(words) {
      if (words) { box.value = words; run(); }
      box.focus();
      box.select();
    },
    finder,
    goTo,
    // The first hits, at most so many: {index, number, before, hit, after}, with the words around them in their paragraph.
    found: (most) => hits.slice(0, most).map(([start, end], index) => {
      const { original, nodes, docs } = finder(), { number } = docs[nodes[finder().placeOf(start)].doc].dataset;
      const [before] = original.slice(Math.max(0, start - AROUND), start).match(/[^\n\0]*$/), [after] = original.slice(end, end + AROUND).match(/^[^\n\0]*/);
      const whole = (words, cut) => words.length < AROUND ? words : words.replace(cut, "…"); // no half words
      return { index, number, before: whole(before, /^\S*/), hit: original.slice(start, end), after: whole(after, /\S*$/) };
    }),
  };
}
