// What may be copied and pasted: own text moves freely, text of the documents never comes in, other text as the study
// says. Of a paste the class, the size and a fingerprint are noted, never the contents.
import { targetOf } from "../keys.js";
import { visible } from "../reading/folding.js";
import { clearNotice, config, events, notice, text } from "./wire.js";

const RUN = 8; // words in a row that make a copy
const wordsOf = (value) => visible(value).toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
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
    const target = targetOf(event);
    if (target instanceof HTMLTextAreaElement) { remember(target); return; }
    if (target instanceof HTMLInputElement) return;
    const selection = getSelection();
    const touches = type === "dragstart" && pane.contains(event.target);
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
