// The texts of documents as they are searched, and the hits in them as ranges of the page.
import { fold } from "./folding.js";

export const PARTS = 32; // of a document, in each of which there is a hit or none

// Where hits begin and end. A single letter has tens of thousands, for which pairs would be slow to make.
export class Hits {
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
        const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
        for (let last = null; walker.nextNode(); ) {
          const { data, parentElement, localName } = walker.currentNode;
          if (localName === "br") last = null;
          if (data === undefined) continue;
          const block = parentElement.closest(":not(mark, font)"), goesOn = block === last; // within a highlight or a translation
          if (!data.trim() && !goesOn) continue;
          if (!goesOn) add("\n"); // a new paragraph
          last = block;
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
      let last = at + wanted.length; // a hit ends where a grapheme does
      while (places[last] === places[last - 1]) last++;
      hits.add(start, places[last]);
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

// Tells of changes to texts that are not the site's own, as when a browser translates a page: `act(differs)` comes after
// the nodes have changed, with whether the words are others than those that were served.
export function watchTexts(view, { signal, act }) {
  const served = view.textContent;
  const observer = new MutationObserver(() => act(view.textContent !== served));
  observer.observe(view, { subtree: true, childList: true, characterData: true });
  signal?.addEventListener("abort", () => observer.disconnect());
}
