// Literal search in the documents: all hits counted at each key, painted by the Custom Highlight API.
import { config, events, find, text } from "./wire.js";

const PAINTED = 1000; // hits painted at once around the current one; all are counted

const PLAIN = { "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"' };

// Lower case of the same length, so that offsets stay true; typographic quotes and spaces equal plain ones.
export function fold(value, matchCase) {
  const plain = value.replace(/[\u2018\u2019\u201c\u201d]|[^\S ]/g, (mark) => PLAIN[mark] ?? " ");
  if (matchCase) return plain;
  const lower = plain.toLowerCase().replaceAll("ς", "σ");
  if (lower.length === plain.length) return lower;
  return Array.from(plain, (mark) => {
    const small = mark.toLowerCase();
    return small.length === mark.length ? small : mark;
  }).join("").replaceAll("ς", "σ");
}

export class Finder {
  constructor(container) {
    this.nodes = []; // {node, start, doc}
    this.docs = [...container.querySelectorAll(".doc")];
    const parts = [];
    let start = 0;
    this.docs.forEach((doc, index) => {
      const walker = document.createTreeWalker(doc.querySelector(".reading"), NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const { data } = walker.currentNode;
        if (!data.trim()) continue;
        this.nodes.push({ node: walker.currentNode, start, end: start + data.length, doc: index });
        parts.push(data);
        start += data.length + 1;
      }
    });
    this.original = parts.join("\u0000"); // no query holds this mark, so no hit crosses two paragraphs
    this.folded = { false: fold(this.original, false), true: null };
  }

  // Gives {starts, counts}: offsets of all hits, and their number in each document.
  search(query, matchCase) {
    const counts = new Uint32Array(this.docs.length);
    const starts = [];
    const wanted = fold(query, matchCase);
    if (!wanted) return { starts, counts };
    const text = this.folded[matchCase] ??= fold(this.original, matchCase);
    let place = 0;
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
      while (this.nodes[place].end <= at) place++;
      starts.push(at);
      counts[this.nodes[place].doc]++;
    }
    return { starts, counts };
  }

  placeOf(start) {
    let low = 0, high = this.nodes.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.nodes[middle].end <= start) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  range(start, length) {
    const low = this.placeOf(start);
    const { node, doc } = this.nodes[low];
    return { range: this.within(low, start, length), doc: this.docs[doc], node };
  }

  // The ranges of hits in ascending order.
  ranges(starts, length) {
    let place = starts.length ? this.placeOf(starts[0]) : 0;
    return starts.map((start) => {
      while (this.nodes[place].end <= start) place++;
      return this.within(place, start, length);
    });
  }

  within(place, start, length) {
    const { node, start: first } = this.nodes[place];
    return new StaticRange({ startContainer: node, startOffset: start - first, endContainer: node, endOffset: start - first + length });
  }
}

export function startSearch({ pane, editor }) {
  const [form, box, count, matchCase] = ["search", "query", "count", "match-case"].map(find);
  const [previous, next] = [find("previous"), find("next")];
  let made = null; // the index is made once the page is there to be read, or when it is asked for
  const finder = () => made ??= new Finder(pane);
  const idle = window.requestIdleCallback ?? setTimeout;
  idle(() => {
    finder();
    idle(() => { // the first searches are several times slower than later ones: get them over with before anybody waits
      for (const often of ["e", "t"]) finder().ranges(finder().search(often, false).starts.slice(0, PAINTED), 1);
    });
  });
  const rail = new Map([...pane.querySelectorAll("[data-jump]")].map((link) => [link.dataset.jump, link.querySelector(".rail-hits")]));
  const paints = "highlights" in CSS;
  let found = { starts: [], counts: [] }, current = -1, length = 0, logged = "", timer;

  const paint = () => {
    if (!paints) return;
    const from = Math.max(0, current - PAINTED / 2);
    CSS.highlights.set("hit", new Highlight(...finder().ranges(found.starts.slice(from, from + PAINTED), length)));
    CSS.highlights.delete("hit-now");
  };
  const showCount = () => {
    const { length: all } = found.starts;
    count.textContent = !box.value ? "" : !all ? text("no-hits") : current < 0 ? text("hits-in", { n: all }) : text("hits", { now: current + 1, all });
    previous.disabled = next.disabled = !all;
  };
  const log = () => {
    const asked = `${matchCase.checked}:${box.value}`;
    if (!box.value || asked === logged) return;
    logged = asked;
    events.log("search", { query: box.value, hits: found.starts.length, case: matchCase.checked });
  };
  const run = () => {
    found = finder().search(box.value, matchCase.checked);
    length = box.value.length;
    current = -1;
    paint();
    showCount();
    if (config.aids.show_hit_counts) finder().docs.forEach((doc, index) => {
      const badge = rail.get(doc.dataset.number);
      const hits = found.counts[index];
      if (!badge || badge.textContent === String(hits || "")) return;
      badge.textContent = hits || "";
      badge.hidden = !hits;
      badge.title = text("hits-in", { n: hits });
    });
    clearTimeout(timer);
    timer = setTimeout(log, 1200);
  };
  const go = (step) => {
    const { length: all } = found.starts;
    if (!all) return;
    log();
    current = current < 0 ? (step > 0 ? firstInView() : all - 1) : (current + step + all) % all;
    paint();
    const hit = finder().range(found.starts[current], length);
    if (paints) CSS.highlights.set("hit-now", new Highlight(hit.range));
    showCount();
    reveal(hit);
  };
  // The first hit in or below what is on screen, so that a search goes on from where one reads.
  const firstInView = () => {
    const top = pane.getBoundingClientRect().top;
    const reading = finder().docs.findIndex((doc) => doc.getBoundingClientRect().bottom > top + 40);
    const start = finder().nodes.find((each) => each.doc >= reading)?.start ?? 0;
    return Math.max(0, found.starts.findIndex((each) => each >= start));
  };
  const reveal = ({ node, range }) => {
    const live = document.createRange();
    live.setStart(node, range.startOffset);
    live.setEnd(node, range.endOffset);
    node.parentElement.scrollIntoView({ block: "nearest" }); // lays the paragraph out, if it was not yet
    const box = live.getBoundingClientRect(), view = pane.querySelector(".documents");
    const scroller = getComputedStyle(view).overflowY === "visible" ? document.scrollingElement : view;
    const { top, height } = scroller === view ? view.getBoundingClientRect() : { top: 0, height: innerHeight };
    if (box.top < top + 60 || box.bottom > top + height * 0.8) scroller.scrollBy({ top: box.top - top - height / 3 });
  };

  box.addEventListener("input", run);
  matchCase.addEventListener("change", run);
  previous.addEventListener("click", () => go(-1));
  next.addEventListener("click", () => go(1));
  form.addEventListener("submit", (event) => { event.preventDefault(); go(1); });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); go(-1); }
    if (event.key === "Escape") { event.preventDefault(); editor.focus({ preventScroll: true }); }
  });
  return {
    open(words) {
      if (words) { box.value = words; run(); }
      box.focus();
      box.select();
    },
    finder,
  };
}
