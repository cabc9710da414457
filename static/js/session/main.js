// A writing session in the browser: what the parts tell each other, and the keys.
import { Autosave } from "./autosave.js";
import { Clock, askIfEmpty, askToLogIn, askWhichText, clockFace, startGuide, startSubmit } from "./bar.js";
import { reason, startAids, startCaret, startCiting, startLists } from "./editor.js";
import { guardTexts } from "./paste.js";
import { isComposing, isOtherScript, isTyping, keyOf, targetOf } from "../keys.js";
import { startSearch } from "../reading/search.js";
import { Sentences } from "../reading/sentences.js";
import { startHits, startMarks } from "./marks.js";
import { sender, startDivider, startHeartbeat, startNotes, startReading } from "./reading.js";
import { startKeyRow, startKeyboard, startSplit } from "./small.js";
import { summaryFacts } from "./summary.js";
import { Unreachable, announce, backoff, button, call, clearNotice, config, events, find, keptTexts, notice, pause, tabId, text } from "./wire.js";

const editor = find("editor"), pane = find("shown"), cover = find("cover");
const tabs = "BroadcastChannel" in window ? new BroadcastChannel(`session:${config.session}`) : null;
const HELD_UP_MS = 3000;
let isLeaving = false;
let finishing = false;
let stopping = null; // the pause or submit under way
let lostText = null; // what a tab that lost the session had not saved

const autosave = new Autosave(editor, { activeMs: () => clock.activeMs, onRefused });
const clock = new Clock({ onMark: () => autosave.flush({ source: "mark" }), onEnd, onState, onLapse });
const notes = startNotes();
const reading = startReading(pane, { onCurrent(number) { const now = find("cite-now"); if (now) now.textContent = `[${number}]`; } });
const documents = pane.querySelector(".documents");
let lastArea = editor; // where somebody wrote last: Esc goes back there from the documents
let lastPlace = editor; // where somebody was last: Esc goes back there from the search
document.addEventListener("focusin", (event) => {
  const target = targetOf(event);
  if (target === editor || target === notes.area) lastArea = lastPlace = target;
  else if (pane.contains(target)) lastPlace = target;
});
const search = startSearch({
  pane,
  parts: { form: find("search"), box: find("query"), count: find("count"), matchCase: find("match-case"), previous: find("previous"), next: find("next") },
  text,
  leave: { focus: () => (isWriting(lastPlace) ? goBack(lastPlace) : lastPlace.focus({ preventScroll: true })) },
  onCounts: reading.rail.onCounts,
  onSearch: (details) => events.log("search", details),
  onFound: () => hits?.put(),
  onHit: reading.attend,
  onTranslated: (isTranslated) => {
    events.log("translated", { is_on: isTranslated, language: document.documentElement.lang });
    if (isTranslated) notice("translated", text("translated")); else clearNotice("translated");
  },
});
const guide = startGuide();
startDivider();
startLists(editor);
const hits = config.aids.list_hits ? startHits(search) : null;
let marks = null;
const aids = startAids(editor, { swatches: () => marks?.shown() ?? [] });
marks = startMarks(pane, editor, { send: sender("marks", "passages"), onChange: aids.paint });
aids.paint(); // with the colours of bullets
pane.addEventListener("click", ({ target }) => { if (target.closest("[data-mark]") && !marks.toggle()) notice("mark", text("mark-nothing"), { seconds: 8 }); });
for (const type of ["pointerdown", "mousedown"]) pane.addEventListener(type, (event) => { if (event.target.closest("[data-mark]")) event.preventDefault(); }); // keeps what is selected
const citing = startCiting(editor, pane);
const restoreCaret = startCaret(editor);
guardTexts({
  pane: find("source"),
  areas: [editor, notes.area],
  ownTexts: () => [autosave.stored, find("theirs").value, find("ours").value],
  documents: () => search.finder().original,
});
const beat = startHeartbeat(config.auto_pause ? Math.min(30_000, config.lease_ms / 4) : 60_000, onBeat);
claim();

// This tab writes from now on; the text is the server's, or what this browser kept of it.
async function claim(mine) {
  for (let attempt = 0; ; attempt++) {
    try {
      const { status, body } = await call("claim", { tab_id: tabId });
      if (status !== 200) { onRefused(status === 401 || status === 403 ? "login" : body.code, body); return; }
      yieldTo(false);
      tabs?.postMessage({ tabId });
      if (body.state === "running") await autosave.adopt(body, mine ?? keptTexts().find((copy) => copy.text !== body.text));
      restoreCaret();
      return;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      autosave.show("offline");
      await pause(backoff(attempt));
    }
  }
}
tabs?.addEventListener("message", async ({ data }) => {
  if (data.hasStopped) { await call("state").catch(() => {}); return; } // the clock hears the answer
  await autosave.flush(); // if there was something, the server keeps it beside the draft
  if (cover.hidden) onRefused("tab_lost", {});
});
find("use-tab").addEventListener("click", () => claim(lostText));

function onRefused(code, body) {
  if (code === "login") askToLogIn(autosave, claim);
  else if (code === "conflict") askWhichText({ autosave, body, onRefused });
  else if (code === "empty") askIfEmpty(autosave, body);
  else if (code === "paused") go(config.urls.page);
  else if (code === "closed") finish();
  else if (code === "tab_lost") giveWay();
  else notice("refused", text("refused", { reason: body?.message ?? `${code}.` }), { kind: "bad" });
}

function giveWay() {
  lostText = autosave.isDirty ? { text: editor.value, base_rev: autosave.rev, sent: null } : null;
  Object.assign(autosave, { state: "stopped", operation: null });
  editor.readOnly = true;
  yieldTo(true);
  autosave.show("problem", text("lost"));
  announce(cover.querySelector("h2").textContent);
}
function yieldTo(other) {
  cover.hidden = !other;
  clock.rest(other);
  for (const part of [pane, find("search")]) part.inert = other;
  endActs(other);
}
function endActs(isOver) { for (const act of [find("pause"), find("submit")]) act.disabled = isOver; }

function onBeat({ status, body }) {
  if (autosave.state !== "open" || autosave.sending) return;
  if (status === 401 || status === 403) autosave.refuse("login", body);
  else if (status === 200 && !body.is_active_tab) onRefused("tab_lost", body);
}

// The server says that the clock does not run: after a last save this page has nothing more to show.
async function onState({ state }) {
  if (isLeaving || stopping || state === "ready") return;
  if (state !== "paused") { finish(); return; }
  isLeaving = true;
  const sent = autosave.flush().then(() => autosave.flush()); // the save under way, and what was typed since
  await Promise.race([sent, pause(4000)]);
  go(config.urls.page);
}

// The server has heard nothing for so long that the session has paused itself: the page is that of a pause, but for
// the text, until the server is there again and says how the session stands.
async function onLapse(hasLapsed) {
  const isOther = !cover.hidden;
  find("lapsed").hidden = !hasLapsed;
  for (const part of [pane, find("search")]) part.inert = hasLapsed || isOther;
  find("pause").disabled = hasLapsed || isOther;
  editor.readOnly = hasLapsed || !["open", "blocked"].includes(autosave.state);
  if (hasLapsed) announce(find("lapsed").querySelector("h2").textContent);
  while (clock.hasLapsed && hasLapsed && !isLeaving) {
    await beat(); // the clock hears the answer
    await pause(3000);
  }
}

// The session is over. What was typed and is not on the server goes there first, however long that takes.
async function finish() {
  if (finishing) return;
  finishing = isLeaving = autosave.isOver = true;
  editor.readOnly = true;
  endActs(true);
  while (autosave.sending) await autosave.sending;
  const isDone = await autosave.deliver();
  const areNotesKept = await notes.flush();
  finishing = false;
  if (isDone && areNotesKept) go(config.urls.after);
  else if (autosave.state === "late") notice("late", text("late-too-long"), { kind: "bad", actions: [button(text("send-again"), () => { clearNotice("late"); finish(); })] });
}
function go(url) {
  isLeaving = true;
  autosave.state = "stopped";
  location.replace(url);
}

// What is said at the end: a text that is not on the server is kept here, however long that takes.
function tellOfEnd() {
  const endedAt = Date.now();
  let said = "";
  const tell = () => {
    const isHeldUp = autosave.isDirty && (autosave.isOffline || Date.now() - endedAt > HELD_UP_MS);
    const name = isHeldUp ? "time-up-kept" : "time-up";
    if (name !== said) notice("time", text(name));
    said = name;
  };
  tell();
  return setInterval(tell, 250);
}
async function onEnd() {
  const telling = tellOfEnd();
  editor.readOnly = true;
  endActs(true);
  await autosave.flush(); // the save under way
  await autosave.flush({ source: "deadline" });
  while (!isLeaving && clock.remainingMs === 0) {
    await pause(1000);
    await call("state").catch(() => {}); // the clock hears the answer; once the session has ended, we leave
  }
  if (isLeaving) return; // the last text may still be on its way
  clearInterval(telling);
  clearNotice("time");
  editor.readOnly = autosave.state !== "open"; // time was given back
  endActs(!cover.hidden);
}

async function stop(name, onWait) {
  if (stopping) return;
  const mine = stopping = {};
  await Promise.race([notes.flush(), pause(2000)]);
  const answer = await autosave.carry(name, { onWait, isWanted: () => stopping === mine });
  if (stopping === mine) stopping = null; // one that was broken off leaves the next alone
  if (answer?.status !== 200) return;
  if (answer.body.refused) clock.set(answer.body);
  else {
    tabs?.postMessage({ hasStopped: true });
    go(name === "pause" ? config.urls.page : config.urls.after);
  }
}
find("pause").addEventListener("click", () => {
  const tell = () => notice("pause", text("pause-failed"), { kind: "bad" });
  if (autosave.isOffline) tell(); // at once
  stop("pause", tell);
});
startSubmit({
  facts: () => ({ ...summaryFacts(editor.value), time: clockFace(clock.remainingMs) }),
  problems: () => aids.problems().map((problem) => ({ problem, line: problem.line, reason: reason(problem), isNote: problem.kind === "range" })),
  select: aids.select,
  submit: (onWait) => stop("submit", onWait),
  cancel: () => { stopping = null; },
  focus: () => editor.focus(),
});

const isWriting = (target) => target === editor || target === notes.area;
function goBack(area) {
  area.focus({ preventScroll: true });
  area.scrollIntoView({ block: "nearest" });
}
const markedWords = () => {
  const inEditor = document.activeElement === editor;
  const marked = inEditor ? editor.value.slice(editor.selectionStart, editor.selectionEnd) : String(getSelection());
  return marked.includes("\n") ? "" : marked.trim().slice(0, 200);
};
// Cites the document that is being read; Escape leads where it led before.
function cite() {
  const kept = [lastArea, lastPlace];
  citing.cite(reading.number);
  [lastArea, lastPlace] = kept;
}
function follow() {
  const number = citing.cited();
  if (number === null || !reading.goTo(number)) notice("number", text(number === null ? "no-citation" : "no-document", { number }), { seconds: 8 });
}
// Marks what is selected. Where nothing is, sentences of the document that is read are chosen by keys first.
let sentences = null; // while some are chosen
function mark() {
  if (marks.toggle()) {
    if (sentences) choosing.Escape();
    return;
  }
  sentences = new Sentences(reading.texts, documents);
  sentences.begin();
  notice("mark", text("mark-sentence"), { seconds: 8 });
}
const choosing = {
  ArrowUp: (isLonger) => sentences.step(-1, isLonger), ArrowDown: (isLonger) => sentences.step(1, isLonger),
  Enter: mark,
  Escape() { sentences.stop(); choseNone(); },
};
function choseNone() {
  sentences = null;
  clearNotice("mark");
}
pane.addEventListener("pointerdown", choseNone);
pane.addEventListener("focusin", ({ target }) => { if (target !== documents) choseNone(); });
function saveNow() {
  announce(text("saving"));
  autosave.flush({ source: "key" }).then(() => announce(find("save-state").textContent));
}
const moves = { ArrowUp: -1, ArrowDown: 1 };
startKeyboard({ editor, showCaret: aids.showCaret });
startKeyRow({ editor, cite, follow });
const split = startSplit();
const keys = {
  c: cite,
  m: mark,
  l: () => hits?.toggle(),
  g: () => reading.rail.openBox(),
  "/": () => search.open(),
  "?": () => guide.toggle(),
  j: () => reading.step(1),
  k: () => reading.step(-1),
  r: () => reading.toggleCurrent(),
};
document.addEventListener("keydown", (event) => {
  const key = keyOf(event), target = targetOf(event);
  const isModal = Boolean(document.querySelector("dialog:modal"));
  const isCommand = event.ctrlKey || event.metaKey;
  let act = null;
  if (isCommand && (key.toLowerCase() === "s" || (isOtherScript(event) && event.code === "KeyS"))) act = saveNow;
  else if (isModal) return;
  else if (event.altKey && !isCommand && event.code === "Slash") act = () => search.open(markedWords());
  else if (event.altKey && !isCommand && event.code === "KeyC") act = cite;
  else if (event.altKey && !isCommand && event.code === "KeyG") act = follow;
  else if (event.altKey && !isCommand && target === editor && moves[key]) act = () => citing.move(moves[key]);
  else if (isCommand && key === "Enter" && !isComposing(event)) act = () => find("submit").click();
  else if (isComposing(event) && isTyping(target)) return;
  else if (key === "Escape" && guide.isOpen) act = () => guide.toggle(false);
  else if (sentences && choosing[key] && !isTyping(target)) act = () => choosing[key](event.shiftKey);
  else if (key === "Escape" && isWriting(target)) act = reading.enter;
  else if (key === "Escape" && !isTyping(target)) act = () => goBack(lastArea);
  else if (key === "F8") act = aids.step;
  else if (key === "F9") act = split;
  else if (!isCommand && !event.altKey && !isTyping(target)) act = /^\d$/.test(key) ? () => reading.rail.openBox(key) : keys[key];
  if (!act && isOtherScript(event) && !isCommand && !isTyping(target)) notice("keys", text("other-script"), { seconds: 8 });
  if (!act) return;
  event.preventDefault();
  act();
});
addEventListener("beforeprint", () => { find("printed").textContent = editor.value; });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
