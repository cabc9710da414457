// Literal search in documents: all hits counted at each key, painted by the Custom Highlight API.
import { frameOf } from "./places.js";

const PAINTED = 1000; // hits painted at once around the current one; all are counted

const PLAIN = { "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"' };
const UNSEEN = /[\u0300-\u036f\u00ad]/g; // accents that stand by themselves, and soft hyphens
const letters = new Map();

// A letter as it is compared, whatever its case and accent: one sign, or none where it only marks another.
function plainLetter(letter) {
  let plain = letters.get(letter);
  if (plain === undefined) {
    const bare = letter.normalize("NFD").replace(UNSEEN, "").normalize("NFC");
    const lower = bare.length > 1 ? letter : bare.toLowerCase();
    letters.set(letter, plain = lower.length > 1 ? bare : lower === "\u03c2" ? "\u03c3" : (PLAIN[lower] ?? lower));
  }
  return plain;
}

// Gives {text, places}: the text as it is compared, and where each of its signs stands in the original. White space of
// any kind and length is one space, typographic quotes equal plain ones; unless `exact`, case and accents are ignored.
export function fold(value, exact) {
  const signs = new Uint16Array(value.length), places = new Uint32Array(value.length);
  let length = 0, wasSpace = false;
  for (let at = 0; at < value.length; at++) {
    let code = value.charCodeAt(at);
    if (code > 127) {
      const plain = exact ? (PLAIN[value[at]] ?? value[at]) : plainLetter(value[at]);
      if (!plain) continue;
      code = plain.trim() ? plain.charCodeAt(0) : 32;
    } else if (code > 8 && code < 14) code = 32;
    else if (!exact && code > 64 && code < 91) code += 32;
    if (code === 32 && wasSpace) continue;
    wasSpace = code === 32;
    signs[length] = code;
    places[length++] = at;
  }
  return { text: new TextDecoder("utf-16").decode(signs.subarray(0, length)), places };
}

const PARTS = 32; // of a document, in each of which there is a hit or none

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

// Where hits begin and end. A single letter has tens of thousands, for which pairs would be slow to make.
class Hits {
  constructor() {
    Object.assign(this, { length: 0, starts: new Uint32Array(4096), ends: new Uint32Array(4096) });
  }

  add(start, end) {
    if (this.length === this.starts.length) {
      for (const name of ["starts", "ends"]) {
        const longer = new Uint32Array(2 * this.length);
        longer.set(this[name]);
        this[name] = longer;
      }
    }
    this.starts[this.length] = start;
    this.ends[this.length++] = end;
  }

  slice(from, to) {
    const found = [];
    for (let at = from; at < Math.min(to, this.length); at++) found.push([this.starts[at], this.ends[at]]);
    return found;
  }

  firstFrom(start) {
    return this.starts.subarray(0, this.length).findIndex((at) => at >= start);
  }
}

export class Finder {
  constructor(container) {
    this.nodes = []; // {node, start, end, doc}
    this.docs = [...container.querySelectorAll(".doc")];
    this.bounds = []; // of each document, in the same places
    const parts = [];
    let start = 0;
    const add = (data) => { parts.push(data); start += data.length; };
    this.docs.forEach((doc, index) => {
      const from = start;
      for (const part of doc.querySelectorAll("h3, .reading")) {
        add("\u0000"); // no query holds this: no hit goes from one document or title into the next
        const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
        for (let wasMarked = false, isFirst = true; walker.nextNode(); isFirst = false) {
          const { data, parentElement: { localName } } = walker.currentNode, isMarked = localName === "mark";
          const goesOn = !isFirst && (isMarked || wasMarked); // a highlight begins or ends in the middle of a text
          wasMarked = isMarked;
          if (!data.trim() && !goesOn) continue;
          if (!goesOn) add("\n"); // a new paragraph
          this.nodes.push({ node: walker.currentNode, start, end: start + data.length, doc: index });
          add(data);
        }
      }
      this.bounds.push([from, start]);
    });
    this.original = parts.join("");
    this.folded = { false: fold(this.original, false), true: null };
  }

  // Gives {hits, counts, where}: all hits in the original, their number in each document, and the parts that have one.
  search(query, exact) {
    const counts = new Uint32Array(this.docs.length), where = new Uint32Array(this.docs.length);
    const hits = new Hits();
    const wanted = fold(query, exact).text;
    if (!wanted.trim()) return { hits, counts, where };
    const { text, places } = this.folded[exact] ??= fold(this.original, exact);
    const { nodes } = this;
    let place = 0;
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
      const start = places[at];
      while (nodes[place].end <= start) place++;
      hits.add(start, places[at + wanted.length - 1] + 1);
      const { doc } = nodes[place], [from, to] = this.bounds[doc];
      counts[doc]++;
      where[doc] |= 1 << Math.floor((PARTS * (start - from)) / (to - from + 1));
    }
    return { hits, counts, where };
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

  // The ranges of hits, [start, end] each, in ascending order.
  ranges(hits) {
    let place = hits.length ? this.placeOf(hits[0][0]) : 0;
    return hits.map((hit) => {
      while (this.nodes[place].end <= hit[0]) place++;
      return this.within(place, hit);
    });
  }

  // A hit may begin or end in the white space between two texts.
  within(place, [start, end]) {
    const { node, start: first } = this.nodes[place];
    while (this.nodes[place + 1]?.start < end) place++;
    const { node: last, start: before } = this.nodes[place];
    return new StaticRange({ startContainer: node, startOffset: Math.max(0, start - first), endContainer: last, endOffset: Math.min(last.length, end - before) });
  }
}

// Scroll to a range, if it is not well in view; `view` is what holds the documents, and scrolls where there is room.
export function reveal({ startContainer, startOffset, endContainer, endOffset }, view) {
  const live = document.createRange();
  live.setStart(startContainer, startOffset);
  live.setEnd(endContainer, endOffset);
  const bring = () => {
    const box = live.getBoundingClientRect(), { scroller, top, height } = frameOf(view);
    const isLow = box.bottom > top + height * 0.8, isHigh = box.top < top + Math.min(60, height / 8);
    if (isLow || isHigh) scroller.scrollBy({ top: box.top - top - height / 3 });
  };
  startContainer.parentElement.scrollIntoView({ block: "nearest" }); // lays the paragraph out, if it was not yet
  bring();
  requestAnimationFrame(bring); // again, now that the text around it is laid out
}

// `parts` are the form and its controls; `leave` is where Escape goes; `signal` ends it all.
// `onCounts(docs, counts, where)` is told of each search, `onSearch(details)` once somebody has stopped typing.
export function startSearch({ pane, parts, text, leave, signal, onCounts, onSearch = () => {} }) {
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
  let hits = new Hits(), counts = [], where = [], current = -1, logged = "", timer;

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
    count.textContent = !box.value.trim() ? "" : !n ? text("no-hits") : current < 0 ? text(found, { n, documents }) : text("hits", { now: current + 1, all: n });
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
    clearTimeout(timer);
    timer = setTimeout(log, 1200);
  };
  const go = (step) => {
    const { length: all } = hits;
    if (!all) return;
    log();
    current = current < 0 ? (step > 0 ? firstInView() : all - 1) : (current + step + all) % all;
    paint();
    const [range] = finder().ranges(hits.slice(current, current + 1));
    if (paints) CSS.highlights.set("hit-now", new Highlight(range));
    showCount();
    reveal(range, pane.querySelector(".documents"));
  };
  // The first hit in or below what is on screen, so that a search goes on from where one reads.
  const firstInView = () => {
    const top = pane.getBoundingClientRect().top;
    const reading = finder().docs.findIndex((doc) => doc.getBoundingClientRect().bottom > top + 40);
    const start = finder().nodes.find((each) => each.doc >= reading)?.start ?? 0;
    return Math.max(0, hits.firstFrom(start));
  };
  const on = (target, type, act) => target.addEventListener(type, act, { signal });
  on(box, "input", run);
  on(matchCase, "change", run);
  on(previous, "click", () => go(-1));
  on(next, "click", () => go(1));
  on(form, "submit", (event) => { event.preventDefault(); go(1); });
  on(box, "keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); go(-1); }
  });
  on(form, "keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    leave.focus({ preventScroll: true });
  });
  signal?.addEventListener("abort", () => { if (paints) for (const name of ["hit", "hit-now"]) CSS.highlights.delete(name); });
  return {
    open(words) {
      if (words) { box.value = words; run(); }
      box.focus();
      box.select();
    },
    finder,
  };
}
