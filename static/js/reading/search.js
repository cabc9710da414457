// Literal search in documents: all hits counted at each key, painted by the Custom Highlight API.

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
    this.nodes = []; // {node, start, end, doc}
    this.docs = [...container.querySelectorAll(".doc")];
    const parts = [];
    let start = 0;
    this.docs.forEach((doc, index) => {
      const walker = document.createTreeWalker(doc.querySelector(".reading"), NodeFilter.SHOW_TEXT);
      for (let wasMarked = false, isFirst = true; walker.nextNode(); isFirst = false) {
        const { data, parentElement: { localName } } = walker.currentNode, isMarked = localName === "mark";
        const goesOn = !isFirst && (isMarked || wasMarked); // a highlight begins or ends in the middle of a text
        wasMarked = isMarked;
        if (!data.trim() && !goesOn) continue;
        if (!goesOn && parts.length) { parts.push("\u0000"); start++; } // no query holds this: no hit crosses two paragraphs
        this.nodes.push({ node: walker.currentNode, start, end: start + data.length, doc: index });
        parts.push(data);
        start += data.length;
      }
    });
    this.original = parts.join("");
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
    while (this.nodes[place].end < start + length) place++;
    const { node: last, start: before } = this.nodes[place];
    return new StaticRange({ startContainer: node, startOffset: start - first, endContainer: last, endOffset: start + length - before });
  }
}

// Scroll to a range, if it is not well in view; `view` is what holds the documents, and scrolls where there is room.
export function reveal({ startContainer, startOffset, endContainer, endOffset }, view) {
  const live = document.createRange();
  live.setStart(startContainer, startOffset);
  live.setEnd(endContainer, endOffset);
  const bring = () => {
    const box = live.getBoundingClientRect();
    const scroller = getComputedStyle(view).overflowY === "visible" ? document.scrollingElement : view;
    const { top, height } = scroller === view ? view.getBoundingClientRect() : { top: 0, height: innerHeight };
    if (box.top < top + 60 || box.bottom > top + height * 0.8) scroller.scrollBy({ top: box.top - top - height / 3 });
  };
  startContainer.parentElement.scrollIntoView({ block: "nearest" }); // lays the paragraph out, if it was not yet
  bring();
  requestAnimationFrame(bring); // again, now that the text around it is laid out
}

// `parts` are the form and its controls; `leave` is where Escape goes; `signal` ends it all.
// `onCounts(docs, counts)` is told of each search, `onSearch(details)` once somebody has stopped typing.
export function startSearch({ pane, parts, text, leave, signal, onCounts = () => {}, onSearch = () => {} }) {
  const { form, box, count, matchCase, previous, next } = parts;
  let made = null; // the index is made once the page is there to be read, or when it is asked for
  const finder = () => made ??= new Finder(pane);
  const idle = window.requestIdleCallback ?? setTimeout;
  idle(() => {
    finder();
    idle(() => { // the first searches are several times slower than later ones: get them over with before anybody waits
      for (const often of ["e", "t"]) finder().ranges(finder().search(often, false).starts.slice(0, PAINTED), 1);
    });
  });
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
    onSearch({ query: box.value, hits: found.starts.length, case: matchCase.checked });
  };
  const run = () => {
    found = finder().search(box.value, matchCase.checked);
    length = box.value.length;
    current = -1;
    paint();
    showCount();
    onCounts(finder().docs, found.counts);
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
    reveal(hit.range, pane.querySelector(".documents"));
  };
  // The first hit in or below what is on screen, so that a search goes on from where one reads.
  const firstInView = () => {
    const top = pane.getBoundingClientRect().top;
    const reading = finder().docs.findIndex((doc) => doc.getBoundingClientRect().bottom > top + 40);
    const start = finder().nodes.find((each) => each.doc >= reading)?.start ?? 0;
    return Math.max(0, found.starts.findIndex((each) => each >= start));
  };
  const on = (target, type, act) => target.addEventListener(type, act, { signal });
  on(box, "input", run);
  on(matchCase, "change", run);
  on(previous, "click", () => go(-1));
  on(next, "click", () => go(1));
  on(form, "submit", (event) => { event.preventDefault(); go(1); });
  on(box, "keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); go(-1); }
    if (event.key === "Escape") { event.preventDefault(); leave.focus({ preventScroll: true }); }
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
