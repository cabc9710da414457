// Private marks in the documents, in the colour of the bullet that is written, and the hits of a search as a list.
import { announce, config, find, text } from "./wire.js";
import { linesOf } from "./lines.js";

const COLOURS = 6;
const MOST_HITS = 200;
const nameOf = (colour) => `mark-${colour}`;

// The colour of each bullet stays with it while others are moved, made or removed around it.
function bulletColours(editor) {
  const bulletsOf = () => linesOf(editor.value).filter(({ kind }) => kind === "bullet");
  const key = `colours:${config.session}`;
  let known = [];
  try { known = JSON.parse(localStorage.getItem(key)) ?? []; } catch { /* by their order */ }
  const follow = () => {
    const bullets = bulletsOf(), old = [...known], colours = bullets.map(() => null);
    const take = (at, from) => { colours[at] = old[from].colour; old[from] = null; };
    bullets.forEach(({ words }, at) => { // as it was, wherever it is now
      const from = old.findIndex((each) => each?.words === words);
      if (from >= 0) take(at, from);
    });
    bullets.forEach((_, at) => { if (colours[at] === null && bullets.length === known.length && old[at]) take(at, at); }); // written on
    bullets.forEach((_, at) => {
      const free = [...Array(COLOURS).keys()].find((colour) => !colours.includes(colour));
      colours[at] ??= free ?? at % COLOURS;
    });
    known = bullets.map(({ words }, at) => ({ words, colour: colours[at] }));
    try { localStorage.setItem(key, JSON.stringify(known)); } catch { /* by their order */ }
    return bullets.map(({ start, marker, line }, at) => ({ start, end: start + marker, line, kind: nameOf(colours[at]), colour: colours[at] }));
  };
  return follow;
}

// `send(passages)` keeps them on the server: [document, start, end, colour] each, places counted in characters of the
// document without line breaks. `onChange()` is told once they have changed.
export function startMarks(pane, editor, { send, onChange }) {
  const docs = [...pane.querySelectorAll(".doc")], bullets = bulletColours(editor);
  const canPaint = "highlights" in CSS;
  let passages = config.passages;
  const length = (value) => [...value].length;
  const nodesOf = (doc) => {
    const walker = document.createTreeWalker(doc.querySelector(".reading"), NodeFilter.SHOW_TEXT), nodes = [];
    for (let start = 0; walker.nextNode(); ) {
      const node = walker.currentNode;
      if (!node.parentElement.closest("p")) continue;
      nodes.push({ node, start, end: start += length(node.data) });
    }
    return nodes;
  };
  const rangesOf = (nodes, from, to) => nodes.filter(({ start, end }) => start < to && end > from).map(({ node, start, end }) => {
    const signs = [...node.data], at = (place) => signs.slice(0, place - start).join("").length;
    return new StaticRange({ startContainer: node, startOffset: at(Math.max(start, from)), endContainer: node, endOffset: at(Math.min(end, to)) });
  });
  const paint = () => {
    if (canPaint) for (let colour = 0; colour < COLOURS; colour++) {
      const ranges = docs.flatMap((doc) => {
        const own = passages.filter((each) => each[0] === Number(doc.dataset.number) && each[3] === colour);
        const nodes = own.length ? nodesOf(doc) : [];
        return own.flatMap(([, from, to]) => rangesOf(nodes, from, to));
      });
      CSS.highlights.set(nameOf(colour), Object.assign(new Highlight(...ranges), { priority: -1 }));
    }
    onChange();
  };
  // What is selected of each document: [document, start, end]; the same place twice where nothing is.
  const selected = () => {
    const selection = getSelection(), range = selection.rangeCount ? selection.getRangeAt(0) : null;
    if (!range) return [];
    return docs.filter((doc) => range.intersectsNode(doc)).flatMap((doc) => {
      const parts = nodesOf(doc).filter(({ node }) => range.intersectsNode(node)).map(({ node, start, end }) => [
        node === range.startContainer ? start + length(node.data.slice(0, range.startOffset)) : start,
        node === range.endContainer ? start + length(node.data.slice(0, range.endOffset)) : end,
      ]);
      return parts.length ? [[Number(doc.dataset.number), parts[0][0], parts.at(-1)[1]]] : [];
    });
  };
  const colourNow = () => {
    const all = bullets(), line = editor.value.slice(0, editor.selectionEnd).split("\n").length;
    return all.findLast((each) => each.line <= line)?.colour ?? 0;
  };
  paint();
  return {
    // Marks what is selected, or takes away what is marked there in that colour; gives whether anything is selected.
    toggle() {
      const places = selected(), colour = colourNow();
      let said = "";
      for (const [number, from, to] of places) {
        const meets = (each) => each[0] === number && (from === to ? each[1] <= from && each[2] >= to : each[1] < to && each[2] > from);
        const there = passages.filter(meets);
        const isMarked = there.some((each) => each[1] <= from && each[2] >= to && (from === to || each[3] === colour));
        if (from === to && !isMarked) continue;
        passages = passages.filter((each) => !there.includes(each));
        if (!isMarked) passages.push([number, from, to, colour]);
        said = isMarked ? "mark-gone" : "mark-made";
      }
      if (!said) return false;
      announce(text(said));
      paint();
      send(passages);
      return true;
    },
    // The bullets whose colour marks something, to be shown in it.
    shown: () => bullets().filter(({ colour }) => passages.some((each) => each[3] === colour)),
  };
}

// A list that a search fills: each hit with what stands around it. Gives what shows or hides it, as its button does.
export function startHits(search) {
  const list = find("hits"), button = find("list-hits");
  const put = () => {
    if (list.hidden) return;
    list.replaceChildren(...search.found(MOST_HITS).map(({ index, number, before, hit, after }) => {
      const item = document.createElement("li"), go = document.createElement("button");
      go.type = "button";
      const make = (name, content) => { const made = document.createElement(name); made.append(...content); return made; };
      go.append(make("b", [`[${number}]`]), make("span", [before, make("mark", [hit]), after]));
      go.addEventListener("click", () => {
        if (matchMedia("(max-width: 55.99rem)").matches) toggle(); // no room for the document beside the list
        search.goTo(index);
      });
      item.append(go);
      return item;
    }));
  };
  function toggle() {
    list.hidden = !list.hidden;
    button.setAttribute("aria-pressed", String(!list.hidden));
    put();
  }
  button.addEventListener("click", toggle);
  return { put, toggle() { toggle(); list.querySelector("button")?.focus(); } };
}
