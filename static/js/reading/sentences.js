// Selecting without a mouse: whole sentences of a text, one at a time or several.
import { frameOf, reveal } from "./places.js";

export class Sentences {
  // `view` is what scrolls to show them.
  constructor(box, view) {
    Object.assign(this, { box, view, isOn: false, at: [0, 0] }); // the first and the last of the selected ones
  }

  // Their places in the text, without the spaces between them.
  get all() {
    const parts = [...new Intl.Segmenter(this.box.lang || undefined, { granularity: "sentence" }).segment(this.box.textContent)];
    return parts.filter(({ segment }) => segment.trim()).map(({ index, segment }) => [index, index + segment.trimEnd().length]);
  }

  // With the first one that begins in view.
  begin() {
    const places = this.all, { top } = frameOf(this.view);
    const below = places.findIndex((place) => this.rangeOf(place, place).getBoundingClientRect().top >= top);
    const at = below < 0 ? places.length - 1 : below;
    this.isOn = places.length > 0;
    if (this.isOn) this.select(at, at);
  }
  stop() {
    this.isOn = false;
    getSelection().removeAllRanges();
  }
  step(by, isLonger) {
    const [first, last] = this.at, next = Math.max(0, Math.min(this.all.length - 1, (isLonger || by > 0 ? last : first) + by));
    this.select(isLonger ? Math.min(first, next) : next, next);
  }

  select(first, last) {
    const places = this.all, range = this.rangeOf(places[first], places[last]);
    this.at = [first, last];
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    reveal(range, this.view);
  }
  // From the beginning of one place to the end of another
  rangeOf([start], [, end]) {
    const range = document.createRange();
    range.setStart(...this.nodeAt(start));
    range.setEnd(...this.nodeAt(end));
    return range;
  }
  // The text node that holds a place, and the place in it.
  nodeAt(place) {
    const walker = document.createTreeWalker(this.box, NodeFilter.SHOW_TEXT);
    let node;
    while ((node = walker.nextNode()) && place > node.length) place -= node.length;
    return [node, place];
  }
}
