// Help in the editor: lists go on by themselves, a click or key cites, bad citations are marked with the reason.
import { isComposing } from "../keys.js";
import { announce, config, events, find, notice, text } from "./wire.js";
import { citeAt, citedAt, continued, doubled, moved, problemsIn, summaryFacts } from "./summary.js";

const known = new Set(config.numbers);
const IN_LINE = ["unknown", "words", "round", "open", "loose", "range"]; // what is marked while one types
const SHOWN = 12; // numbers named at most

const bracket = (numbers) => `[${numbers.join(", ")}]`;
const short = (numbers) => (numbers.length > SHOWN ? [...numbers.slice(0, SHOWN - 1), "…", numbers.at(-1)] : numbers).join(", ");
export const reason = ({ kind, cited, numbers }) => text(`problem-${kind}`, { cited, numbers: kind === "unknown" ? bracket(numbers) : short(numbers), meant: bracket(numbers) });

export function insert(editor, { start, end, insert: added }) {
  editor.setSelectionRange(start, end);
  const isDone = added ? document.execCommand("insertText", false, added) : document.execCommand("delete");
  if (isDone) return; // this way keeps undo; the other one is for browsers without
  editor.setRangeText(added, start, end, "end");
  editor.dispatchEvent(new Event("input", { bubbles: true }));
}

// Enter goes on with the list; the mark that somebody types all the same is taken away again.
export function startLists(editor) {
  editor.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || isComposing(event) || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || editor.readOnly) return;
    const change = continued(editor.value, editor.selectionStart, editor.selectionEnd);
    if (!change) return;
    event.preventDefault();
    insert(editor, change);
  });
  editor.addEventListener("input", ({ data, inputType }) => {
    if (inputType !== "insertText" || data !== " " || editor.selectionStart !== editor.selectionEnd) return;
    const extra = doubled(editor.value, editor.selectionEnd);
    if (extra) insert(editor, { ...extra, insert: "" });
  });
}

// Change the text somewhere else than where the focus is: focus, selection and all that scrolls stay as they are.
function inPlace(editor, act) {
  const focused = document.activeElement, selection = getSelection();
  const range = focused !== editor && selection.rangeCount ? selection.getRangeAt(0) : null;
  const scrolled = [document.scrollingElement, find("shown").querySelector(".documents")].map((each) => [each, each.scrollTop]);
  editor.focus({ preventScroll: true });
  act();
  if (focused === document.body) editor.blur();
  else focused.focus({ preventScroll: true });
  if (range && !range.collapsed) { selection.removeAllRanges(); selection.addRange(range); }
  for (const [each, top] of scrolled) each.scrollTop = top;
}
const isOnScreen = (element) => {
  const { top, bottom } = element.getBoundingClientRect();
  return top < innerHeight - 40 && bottom > 40;
};

// Citing: `cite(number)` at the caret, and nothing else moves; `cited()` is the document that is cited where the caret is.
export function startCiting(editor, pane) {
  const put = ({ start, end, insert: added, caret }) => {
    insert(editor, { start, end, insert: added });
    editor.setSelectionRange(caret, caret);
  };
  const changeFor = (number) => citeAt(editor.value, editor.selectionEnd, number);
  if (config.aids.click_to_cite) pane.addEventListener("click", (event) => {
    const number = Number(event.target.closest("[data-cite]")?.dataset.cite);
    if (!number || editor.readOnly) return;
    const change = changeFor(number);
    editor.focus({ preventScroll: true });
    if (!change) return;
    events.log("cite_click", { number });
    put({ ...change, end: change.start });
  });
  return {
    cite(number) {
      if (!config.aids.click_to_cite || !number || editor.readOnly) return;
      const change = changeFor(number);
      if (change) {
        events.log("cite_click", { number, by: "key" });
        inPlace(editor, () => put({ ...change, end: change.start }));
      }
      const said = text(change ? "cited" : "cited-already", { number, line: editor.value.slice(0, editor.selectionEnd).split("\n").length });
      if (change && isOnScreen(editor)) announce(said); else notice("cited", said, { kind: "good", seconds: 3 });
    },
    cited: () => citedAt(editor.value, editor.selectionEnd),
    move(by) {
      const change = editor.readOnly ? null : moved(editor.value, editor.selectionEnd, by);
      if (change) put(change);
    },
  };
}

// Puts the caret back where it was when this tab left the page, at the end of the text if it was nowhere. The focus goes
// with it, also later where it is nowhere, but not where that opens a keyboard over the page.
export function startCaret(editor) {
  const key = `caret:${config.session}`;
  addEventListener("pagehide", () => {
    try { sessionStorage.setItem(key, JSON.stringify([editor.selectionStart, editor.selectionEnd, editor.scrollTop])); } catch { /* private mode */ }
  });
  let isFirst = true;
  function restore() {
    let place = null;
    try { place = JSON.parse(sessionStorage.getItem(key)); } catch { /* private mode */ }
    const [start, end, top] = place ?? [editor.value.length, editor.value.length, editor.scrollHeight];
    editor.setSelectionRange(start, end);
    editor.scrollTop = top;
  }
  return () => {
    if (isFirst) restore();
    isFirst = false;
    const at = document.activeElement, isNowhere = at === document.body || !at.getClientRects().length;
    if (isNowhere && !matchMedia("(hover: none)").matches) editor.focus({ preventScroll: true });
  };
}

// Gives `problems()`, all of them, and `select(problem)`, which goes there.
// `swatches()` are bullets to be shown in the colour of what is marked for them.
export function startAids(editor, { swatches }) {
  const counters = find("counters"), line = find("problems"), next = find("next-problem"), marks = find("marks");
  const checks = config.aids.live_citation_check;
  let shown = [];
  counters.hidden = !config.aids.show_counters;

  const paint = () => {
    const { value } = editor, pieces = [];
    let at = 0;
    for (const { start, end, kind } of [...shown, ...swatches()].sort((one, other) => one.start - other.start)) {
      if (start < at || kind === "loose") continue;
      const className = kind === "range" ? "is-note" : kind.startsWith("mark-") ? kind : "";
      pieces.push(value.slice(at, start), Object.assign(document.createElement("mark"), { textContent: value.slice(start, end), className }));
      at = end;
    }
    marks.replaceChildren(...pieces, `${value.slice(at)}\n`);
    marks.scrollTop = editor.scrollTop;
  };
  // What the caret is in comes first, then its line, then the first problem.
  const showMessage = () => {
    const caret = editor.selectionEnd, here = editor.value.slice(0, caret).split("\n").length;
    const bad = shown.filter(({ kind }) => kind !== "range");
    const at = bad.filter(({ start, end }) => start <= caret && caret <= end);
    const [first] = [...at, ...shown.filter((each) => each.line === here), ...bad];
    const message = !first ? "" : [bad.length > 1 ? text("n-problems", { n: bad.length }) : "", text("at-line", { line: first.line, reason: reason(first) })].filter(Boolean).join(" · ");
    if (line.textContent !== message) line.textContent = message;
    line.classList.toggle("is-note", first?.kind === "range");
    next.hidden = !bad.length;
  };
  const problems = () => {
    const caret = editor.selectionEnd, isTyping = document.activeElement === editor;
    return problemsIn(editor.value, known).filter(({ kind, start, end }) => kind !== "open" || !isTyping || caret < start || caret > end);
  };
  const update = () => {
    if (config.aids.show_counters) counters.textContent = text("counters", summaryFacts(editor.value));
    if (checks) shown = problems().filter(({ kind }) => IN_LINE.includes(kind));
    paint();
    if (checks) showMessage();
  };
  const show = (at) => {
    paint();
    const range = document.createRange(), place = nodeAt(marks, at);
    range.setStart(...place);
    range.setEnd(...place);
    const top = range.getBoundingClientRect().top - marks.getBoundingClientRect().top + marks.scrollTop;
    editor.scrollTop = top - editor.clientHeight / 3;
    editor.scrollIntoView({ block: "nearest" });
  };
  const select = ({ start, end }) => {
    editor.focus({ preventScroll: true });
    editor.setSelectionRange(start, end);
    show(start);
    if (checks) showMessage();
  };
  let planned = false;
  const later = () => {
    if (planned) return;
    planned = true;
    setTimeout(() => { planned = false; update(); }, 200);
  };
  for (const type of ["input", "replaced"]) editor.addEventListener(type, later);
  editor.addEventListener("scroll", () => { marks.scrollTop = editor.scrollTop; });
  document.addEventListener("selectionchange", () => { if (checks && document.activeElement === editor) showMessage(); });
  update();
  const step = () => {
    const bad = shown.filter(({ kind }) => kind !== "range");
    if (bad.length) select(bad.find(({ start }) => start > editor.selectionStart) ?? bad[0]);
  };
  next.addEventListener("click", step);

  return { problems: () => (checks ? problems() : []), select, step, showCaret: () => show(editor.selectionEnd), paint };
}

// The text node below `root` that holds a place in its text, and the place in it.
function nodeAt(root, place) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let rest = place;
  while (walker.nextNode()) {
    if (rest <= walker.currentNode.length) return [walker.currentNode, rest];
    rest -= walker.currentNode.length;
  }
  return [root, 0];
}
