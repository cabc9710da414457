// Help in the editor: lists go on by themselves, a click cites, bad citations are marked with the reason.
import { isComposing } from "../keys.js";
import { config, events, find, text } from "./wire.js";
import { citeAt, continued, doubled, problemsIn, summaryFacts } from "./summary.js";

const known = new Set(config.numbers);
const IN_LINE = ["unknown", "words", "round", "open", "loose", "range"]; // what is marked while one types
const SHOWN = 12; // numbers named at most

const bracket = (numbers) => `[${numbers.join(", ")}]`;
const short = (numbers) => (numbers.length > SHOWN ? [...numbers.slice(0, SHOWN - 1), "…", numbers.at(-1)] : numbers).join(", ");
export const reason = ({ kind, cited, numbers }) => text(`problem-${kind}`, { cited, numbers: kind === "unknown" ? bracket(numbers) : short(numbers), meant: bracket(numbers) });

function insert(editor, { start, end, insert: added }) {
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

// Gives `problems()`, all of them, and `select(problem)`, which goes there.
export function startAids(editor, pane) {
  const counters = find("counters"), line = find("problems"), next = find("next-problem"), marks = find("marks");
  const checks = config.aids.live_citation_check;
  let shown = [];
  counters.hidden = !config.aids.show_counters;

  const paint = () => {
    const { value } = editor, pieces = [];
    let at = 0;
    for (const { start, end, kind } of shown) {
      if (start < at || kind === "loose") continue;
      pieces.push(value.slice(at, start), Object.assign(document.createElement("mark"), { textContent: value.slice(start, end), className: kind === "range" ? "is-note" : "" }));
      at = end;
    }
    marks.replaceChildren(...pieces, `${value.slice(at)}\n`);
    marks.scrollTop = editor.scrollTop;
  };
  // The line of the caret comes first, then the first problem.
  const showMessage = () => {
    const caret = editor.selectionEnd, here = editor.value.slice(0, caret).split("\n").length;
    const bad = shown.filter(({ kind }) => kind !== "range");
    const [first] = [...shown.filter((each) => each.line === here), ...bad];
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
  const select = ({ start, end }) => {
    paint();
    editor.focus({ preventScroll: true });
    editor.setSelectionRange(start, end);
    const range = document.createRange(), place = nodeAt(marks, start);
    range.setStart(...place);
    range.setEnd(...place);
    const top = range.getBoundingClientRect().top - marks.getBoundingClientRect().top + marks.scrollTop;
    editor.scrollTop = top - editor.clientHeight / 3;
    editor.scrollIntoView({ block: "nearest" });
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

  if (config.aids.click_to_cite) pane.addEventListener("click", (event) => {
    const number = Number(event.target.closest("[data-cite]")?.dataset.cite);
    if (!number || editor.readOnly) return;
    const change = citeAt(editor.value, editor.selectionEnd, number);
    editor.focus({ preventScroll: true });
    if (!change) return;
    events.log("cite_click", { number });
    insert(editor, { ...change, end: change.start });
    editor.setSelectionRange(change.caret, change.caret);
  });
  return { problems: () => (checks ? problems() : []), select, step };
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
