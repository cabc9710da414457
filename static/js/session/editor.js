// Help and rules in the editor: a click cites, unknown numbers are named, bullets are counted, pastes are judged.
import { clearNotice, config, events, find, notice, text } from "./wire.js";

const SEPARATORS = "\\s,;&\\-\\u2010-\\u2015";
const CITATION = new RegExp(`\\[[\\s,;]*(\\d{1,9}(?:[${SEPARATORS}]+\\d{1,9})*)[\\s,;]*\\]`, "g");
const OPEN = new RegExp(`\\[[\\d${SEPARATORS}]*$`);
const MARKER = /^\s*(?:[•◦‣▪●○■□·]|[-–—+*](?=\s|$)|\(?\d{1,3}[.)](?=\s|$))/;

// Where a click on a document's number goes: {start, end, insert, caret}, or null where it stands there already.
export function citeAt(value, caret, number) {
  const lineStart = value.lastIndexOf("\n", caret - 1) + 1;
  const lineEnd = (value.indexOf("\n", caret) + 1 || value.length + 1) - 1;
  const before = value.slice(lineStart, caret), after = value.slice(caret, lineEnd);
  for (const bracket of value.slice(lineStart, lineEnd).matchAll(/\[([\d\s,;&\-\u2010-\u2015]*)\]/g)) {
    const start = lineStart + bracket.index, close = start + bracket[0].length - 1;
    const isNear = caret > start ? !value.slice(Math.min(caret, close + 1), caret).trim().replace(/^\.$/, "") : !value.slice(caret, start).trim();
    if (!isNear) continue;
    if (citedIn(bracket[0]).includes(number)) return null;
    const kept = bracket[1].replace(/[\s,;&]+$/, "");
    const insert = kept.trim() ? `, ${number}` : `${number}`;
    const place = start + 1 + kept.length;
    return { start: place, end: close, insert, caret: caret > close ? caret + insert.length - (close - place) : place + insert.length };
  }
  const open = before.match(OPEN)?.[0];
  if (open) {
    const lead = /\d$/.test(open) ? ", " : /[,;&]$/.test(open) ? " " : "";
    const insert = `${lead}${number}${/^\s*\]/.test(after) ? "" : "]"}`;
    return { start: caret, end: caret, insert, caret: caret + insert.length };
  }
  const insert = `${before && !/\s$/.test(before) ? " " : ""}[${number}]`;
  return { start: caret, end: caret, insert, caret: caret + insert.length };
}

export function citedIn(value) {
  const found = new Set();
  for (const [, group] of value.matchAll(CITATION)) {
    for (const [, first, last] of group.matchAll(/(\d+)(?:\s*[-\u2010-\u2015]\s*(\d+))?/g)) {
      const from = Number(first), to = Number(last ?? first);
      if (to - from >= 0 && to - from < 500) for (let n = from; n <= to; n++) found.add(n);
      else found.add(from).add(to);
    }
  }
  return [...found];
}

// The counts below the editor; as in the scoring, once one line has a bullet mark only such lines are bullets.
export function summaryFacts(value) {
  const lines = value.split("\n").filter((line) => /[\p{L}\p{N}]/u.test(line.replace(CITATION, "")) && !/^\s*#{1,6}\s/.test(line));
  const marked = lines.filter((line) => MARKER.test(line));
  const bullets = marked.length ? marked : lines.filter((line, index) => index || lines.length === 1 || !line.trim().endsWith(":"));
  const words = bullets.flatMap((line) => line.replace(MARKER, "").replace(CITATION, " ").split(/\s+/)).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return {
    bullets: bullets.length,
    words: words.length,
    uncited: bullets.filter((line) => !citedIn(line).length).length,
    loose: lines.filter((line) => !bullets.includes(line) && citedIn(line).length).length,
  };
}

export function startAids(editor, pane) {
  const counters = find("counters"), problems = find("problems");
  const known = new Set(config.numbers);
  counters.hidden = !config.aids.show_counters;
  const update = () => {
    const facts = summaryFacts(editor.value);
    if (config.aids.show_counters) counters.textContent = text("counters", facts);
    if (!config.aids.live_citation_check) return;
    const unknown = citedIn(editor.value).filter((number) => !known.has(number));
    const found = [
      unknown.length ? text("unknown-numbers", { numbers: unknown.map((n) => `[${n}]`).join(" ") }) : "",
      facts.loose ? text("loose", { n: facts.loose }) : "",
    ].filter(Boolean).join(" · ");
    if (problems.textContent !== found) problems.textContent = found;
  };
  let planned = false;
  const later = () => {
    if (planned) return;
    planned = true;
    setTimeout(() => { planned = false; update(); }, 200);
  };
  editor.addEventListener("input", later);
  editor.addEventListener("replaced", later);
  update();
  if (config.aids.click_to_cite) pane.addEventListener("click", (event) => {
    const number = Number(event.target.closest("[data-cite]")?.dataset.cite);
    if (!number || editor.readOnly) return;
    const change = citeAt(editor.value, editor.selectionEnd, number);
    editor.focus({ preventScroll: true });
    if (!change) return;
    events.log("cite_click", { number });
    editor.setSelectionRange(change.start, change.start);
    if (!document.execCommand("insertText", false, change.insert)) { // keeps undo; the other way is for browsers without
      editor.setRangeText(change.insert, change.start, change.start, "end");
      editor.dispatchEvent(new Event("input", { bubbles: true }));
    }
    editor.setSelectionRange(change.caret, change.caret);
  });
}

// Own text moves freely, text of the documents never comes in, other text as the study says. Of a paste the class,
// the size and a fingerprint are noted, never the contents.
const RUN = 8; // words in a row that make a copy
// As the server compares: forms of one sign are one, and signs that nobody sees are none.
const visible = (value) => value.normalize("NFKC").replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, "").toLowerCase();
const wordsOf = (value) => visible(value).match(/[\p{L}\p{N}]+/gu) ?? [];
const folded = (value) => value.replace(/\s+/g, " ").trim();

export function classify(pasted, ownTexts, documentWords) {
  const plain = folded(pasted);
  if (!plain || ownTexts.some((own) => folded(own).includes(plain))) return { class: "own", ratio: 0 };
  const words = wordsOf(pasted);
  const runs = new Map();
  for (let i = 0; i + RUN <= words.length; i++) {
    const run = words.slice(i, i + RUN).join(" ");
    runs.set(run, [...(runs.get(run) ?? []), i]);
  }
  const copied = new Set();
  if (runs.size) for (let i = 0; i + RUN <= documentWords.length; i++) {
    for (const at of runs.get(documentWords.slice(i, i + RUN).join(" ")) ?? []) for (let k = 0; k < RUN; k++) copied.add(at + k);
  }
  return { class: copied.size ? "document" : "other", ratio: words.length ? Math.round((100 * copied.size) / words.length) / 100 : 0 };
}

const fingerprint = (value) => {
  let hash = 0x811c9dc5;
  for (const mark of folded(value)) hash = Math.imul(hash ^ mark.codePointAt(0), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
};

export function guardTexts({ pane, areas, ownTexts, documents }) {
  const key = `clips:${config.session}`;
  let clips = [], words;
  try { clips = JSON.parse(localStorage.getItem(key)) ?? []; } catch { /* starts empty */ }
  const remember = (area) => {
    const clip = area.value.slice(area.selectionStart, area.selectionEnd);
    if (!clip.trim()) return;
    clips = [clip, ...clips.filter((each) => each !== clip)].slice(0, 20);
    try { localStorage.setItem(key, JSON.stringify(clips)); } catch { /* in memory at least */ }
  };
  const refuseCopy = (event) => {
    event.preventDefault();
    events.log(event.type === "dragstart" ? "drag" : event.type);
    notice("copy", text("no-copy"), { seconds: 8 });
  };
  for (const type of ["copy", "cut", "dragstart"]) document.addEventListener(type, (event) => {
    if (event.target instanceof HTMLTextAreaElement) { remember(event.target); return; }
    if (event.target instanceof HTMLInputElement) return;
    const selection = getSelection();
    const touches = type === "dragstart" ? pane.contains(event.target) : false;
    if (touches || (selection.rangeCount && !selection.isCollapsed && selection.getRangeAt(0).intersectsNode(pane))) refuseCopy(event);
  });
  const judge = (event, transfer) => {
    const pasted = transfer?.getData("text/plain") ?? "";
    if (!pasted.trim()) { if (transfer?.files.length) event.preventDefault(); return; }
    words ??= wordsOf(documents());
    const verdict = classify(pasted, [...ownTexts(), ...areas.map((area) => area.value), ...clips], words);
    const allowed = verdict.class === "own" || config.may_paste || (verdict.class === "other" && config.paste_policy === "flag");
    if (!allowed) event.preventDefault();
    const type = allowed ? (verdict.class === "own" ? "paste_own" : "paste") : "paste_blocked";
    events.log(type, { ...verdict, chars: pasted.length, words: wordsOf(pasted).length, hash: fingerprint(pasted), by: event.type });
    clearNotice("paste");
    if (!allowed) notice("paste", text(verdict.class === "document" ? "paste-document" : "paste-other"), { seconds: 10 });
    else if (verdict.class !== "own") notice("paste", text("paste-flagged"), { seconds: 10 });
  };
  for (const area of areas) {
    area.addEventListener("paste", (event) => judge(event, event.clipboardData));
    area.addEventListener("drop", (event) => judge(event, event.dataTransfer));
  }
}
