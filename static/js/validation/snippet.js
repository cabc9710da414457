// The passage of the response that decides: where it is (in code points, as the server counts), and how it is shown.
const points = (text) => [...text].length;

export class Snippet {
  constructor(box, place) {
    this.box = box;
    this.text = box.textContent;
    this.place = place; // [start, end] or null
  }

  // Whether the browser has put other words there, such as a translation: places in them are none of the response.
  get isChanged() { return this.box.textContent !== this.text; }

  get words() { return this.place ? [...this.text].slice(...this.place).join("") : ""; }

  // What is selected inside the response, without spaces around it; null if nothing is.
  selected() {
    const selection = getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    if (!this.box.contains(range.startContainer) || !this.box.contains(range.endContainer)) return null;
    const before = document.createRange();
    before.selectNodeContents(this.box);
    before.setEnd(range.startContainer, range.startOffset);
    const raw = range.toString(), core = raw.trim();
    if (!core) return null;
    const start = points(before.toString()) + points(raw.slice(0, raw.indexOf(core)));
    return [start, start + points(core)];
  }

  // A passage that is marked already is left as it is: drawing it anew would take away what is being selected.
  set(place) {
    if (String(place) === String(this.place)) return;
    this.place = place;
    for (const mark of this.box.querySelectorAll("mark")) mark.replaceWith(...mark.childNodes);
    this.box.normalize();
    if (!place) return;
    const [start, end] = place.map((n) => [...this.text].slice(0, n).join("").length);
    const walker = document.createTreeWalker(this.box, NodeFilter.SHOW_TEXT), inside = [];
    for (let at = 0; walker.nextNode(); at += walker.currentNode.length) {
      const from = Math.max(start - at, 0), to = Math.min(end - at, walker.currentNode.length);
      if (from < to) inside.push([walker.currentNode, from, to]);
    }
    for (const [node, from, to] of inside) {
      const range = document.createRange();
      range.setStart(node, from);
      range.setEnd(node, to);
      range.surroundContents(document.createElement("mark"));
    }
  }
}
