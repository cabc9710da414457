// What every page of label work does: answers on their way, undo, going on and back, what comes next.
import { startAside } from "./aside.js";
import { remember, watchElsewhere } from "./elsewhere.js";
import { Gate } from "./gate.js";
import { startKeyboard } from "./keyboard.js";
import { load, noteLeft, Onward } from "./onward.js";
import { fieldOf, Outbox, taskOf } from "./outbox.js";
import { preferencesOf } from "./preferences.js";
import { watchTime } from "./presence.js";
import { startRhythm } from "./rhythm.js";
import { Trail } from "./trail.js";
import { startVoice } from "./voice.js";
import { write } from "../place.js";
import { timeOfDay } from "../talk.js";

const KINDS = { login: "problem", refused: "problem", offline: "unsaved", still: "unsaved" };
let startTask = null, outbox = null, onward = null, prefer = null; // these outlive the item on the screen
const trail = new Trail();
let shown = null; // what is told of the item on the screen
let arrival = null; // what the item before hands to the one that takes its place

// Start the task on the page by `start(root)`, which later also starts those that take its place.
export function run(start) {
  const root = document.querySelector("[data-label-task]"), config = JSON.parse(root.dataset.config);
  startTask = start;
  outbox = new Outbox(config);
  prefer = preferencesOf(config);
  const isWaiting = (url) => outbox.acts.some((act) => url.includes(taskOf(act)));
  onward = new Onward(`[data-label-task="${config.kind}"]`, (url) => !isWaiting(url) || outbox.settled());
  start(root);
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  addEventListener("beforeunload", (event) => { if (!outbox.isEmpty) event.preventDefault(); });
}

// Whether something was chosen on a form before the scripts ran: it shows, and has not been sent.
export const hasEarlyChoice = (form) => [...form.querySelectorAll("input")].some(({ checked, defaultChecked }) => checked !== defaultChecked);

// `answered(act, body)` gets what an act on this task came to; `keys(key, event)` gives what a key does beside the common
// ones, if anything; `next()` is Enter, and `onClick()` the button to the next task, where that is something else.
// `retry(act)` shows a refused answer again and gives the box it belongs to.
export function startShell(root, { answered, keys, next, onClick = next, retry }) {
  const config = JSON.parse(root.dataset.config), { urls } = config, [study] = urls.end.split("?");
  const find = (name) => root.querySelector(`[data-${name}]`);
  const life = new AbortController(), { signal } = life; // ends when the next task takes this one's place
  const on = (target, type, act) => target.addEventListener(type, act, { signal });
  const { text, announce, say, refuse, hush } = startVoice(root, signal);
  const from = arrival, fetchedAt = from?.fetchedAt ?? 0;
  arrival = null;
  root.classList.add("has-scripts");
  prefer.config = shown = config;

  let nDoneBesides = config.n_done_besides, nOpenBesides = config.n_open_besides, wasComplete = false;
  function recount() {
    const more = trail.redraw(root, config, fetchedAt);
    nDoneBesides += more.done;
    nOpenBesides += more.open;
  }
  recount();
  function progress(isComplete = wasComplete) {
    wasComplete = isComplete;
    const done = nDoneBesides + isComplete;
    find("progress").value = done;
    write(find("done-count"), text("done", { n: done }));
    rhythm.left(nOpenBesides + !isComplete);
  }
  function show(kind, values = {}) {
    if (!config.is_open && ["idle", "saved"].includes(kind)) return;
    const place = find("save-state");
    place.dataset.kind = KINDS[kind] ?? kind;
    place.textContent = text(kind, { get time() { return timeOfDay(config.time_zone, outbox.storedAt ?? undefined); }, ...values });
    if (kind === "login") place.append(" ", Object.assign(document.createElement("a"), { href: urls.login, target: "_blank", rel: "noopener", textContent: text("login-link") }));
    // Where the bar has room for a sign only, what is wrong is said in the sheet.
    const said = find("said");
    said.dataset.kind = place.dataset.kind;
    said.hidden = !["unsaved", "problem"].includes(place.dataset.kind);
    said.replaceChildren(...[...place.childNodes].map((each) => each.cloneNode(true)));
    if (kind === "refused") say(place.textContent);
  }

  // The gate: shut while this item is being left or an undo is on its way
  let dropped = [], keptOnTheWay = [], trip = 0, isLoading = false;
  const droppedNote = () => (dropped.length ? text(gate.why === "undoing" ? "dropped-undoing" : "dropped", { keys: dropped.join(" ") }) : "");
  const usual = (key) => config.keys[key] ?? key; // the scripts know the usual keys alone
  const gate = new Gate(root, {
    signal, usual,
    dropped: (key) => { dropped.push(key || text("a-click")); say(droppedNote()); },
    stay: () => { trip += 1; if (isLoading) window.stop(); gate.open(); say(text("stayed")); },
  });
  const address = new URL(from?.url ?? location.href); // which the browser learns once the item is painted
  if (from) gate.openOncePainted().then(enter);
  const noteHere = from ? from.note : noteLeft(study);
  if (noteHere) setTimeout(() => say(noteHere), 50); // after the live region is there

  function swap(page, note) {
    life.abort();
    arrival = { ...page, note };
    page.root.dataset.arrives = "";
    root.replaceWith(page.root);
    scrollTo(0, 0);
    startTask(page.root);
  }
  function enter() {
    if (signal.aborted) return;
    history[from.url === location.href ? "replaceState" : "pushState"](null, "", from.url);
    document.title = from.title;
  }
  // Leave for an address, or for what `where` comes to. A page that is here already takes this one's place at once,
  // while answers are still on their way; any other is fetched once they are stored. Escape stays here. A comment that
  // was typed is saved first.
  async function leave(where, { note = "", open = null, isReturn = false } = {}) {
    if (gate.why === "going") return;
    if (!gate.why) dropped = [];
    keptOnTheWay = [];
    aside.keepTyped();
    const notes = () => [note, ...keptOnTheWay, droppedNote()].filter(Boolean).join(" ");
    const ready = typeof where === "string" && !open ? onward.take(where) : null;
    if (ready) { swap(ready, notes()); return; }
    gate.shut("going");
    const mine = ++trip, isWanted = () => mine === trip;
    const isItem = typeof where === "string" && !open && where !== urls.end;
    const whyHere = () => (where === urls.end && !outbox.isEmpty ? "was-last" : isItem && where === nextUrl() ? "not-here" : "unreachable");
    const stay = () => { gate.open(); say(text(whyHere())); };
    const isStored = isReturn || onward.isComing(where) || await outbox.settled();
    if (!isWanted()) return;
    if (!isStored && !isItem) { stay(); return; }
    const url = typeof where === "string" ? where : await where();
    if (!isWanted()) return;
    if (!url) { gate.open(); return; }
    if (open) { isLoading = true; open(url, notes(), study); return; }
    const page = await onward.pageAt(url);
    if (!isWanted()) return;
    onward.drop(url);
    if (page?.root) { swap(page, notes()); return; }
    if (page && !isReturn && await outbox.settled()) { if (isWanted()) load(url, notes(), study); return; }
    if (isWanted()) stay();
  }
  // This item as the server holds it now, in the place of this one; what is being typed and where one reads stay.
  async function renew() {
    const page = await onward.pageAt(location.pathname + location.search + location.hash);
    if (!page?.root || gate.why || !outbox.isEmpty || signal.aborted) return;
    const bring = remember(root);
    swap(page, text("changed-elsewhere"));
    bring(page.root);
  }
  const follow = (link) => { if (link?.href) leave(link.getAttribute("href")); };
  const nextUrl = () => trail.next(config, fetchedAt);
  function prefetch() { onward.hold([...new Set([nextUrl(), ...trail.ahead(config, fetchedAt)])].filter((url) => url !== urls.end)); }
  // On from a complete item; one whose answer was refused is not left so.
  function goOn() {
    if (refusal) { refuse(refusal.box, refusal.sentence, { byServer: true }); return; }
    if (outbox.isWaiting(config.task)) trail.leave(config.task, "done");
    leave(nextUrl());
  }

  // Answers and undo, in order. An undo may concern another task: then it leads there.
  let undone = [], undoneAt = null, refusal = null;
  function arrived(act, body) {
    const task = taskOf(act) ?? config.task, isHere = task === config.task;
    if (act.url.endsWith("/undo/")) { tookBack(body); return; }
    trail.takeRefused(task);
    if (!outbox.isWaiting(task)) trail.settle(task, body.state);
    if (act.note) {
      const kept = text("on-item", { n: act.number, note: text(act.note) });
      if (gate.why === "going") keptOnTheWay.push(kept); // this page may be gone before that is read
      say(isHere ? text(act.note) : kept);
    }
    if (isHere) {
      elsewhere.know(body.revision);
      if (act.url === urls.remark) aside.kept(act, outbox.isWaiting(task, urls.remark)); else if (act.url !== urls.read) answered(act, body);
    }
    rhythm.refresh();
    prefer.send();
    prefetch();
  }
  function tookBack(body) {
    undone.push(body.nothing ? text("nothing") : body.message);
    if (!body.nothing) {
      trail.settle(body.task, body.state);
      onward.drop(body.next);
      const isHere = body.task === config.task;
      if (isHere) elsewhere.know(body.revision);
      undoneAt = isHere && !body.is_skip ? null : body.next; // the page of a skipped item says so
      if (!undoneAt) answered({ url: urls.undo, fields: [] }, body);
    }
    settleUndo();
  }
  function settleUndo() {
    if (outbox.isWaiting(config.task, urls.undo)) return;
    const note = undone.join(" "), url = undoneAt;
    undone = [];
    undoneAt = null;
    if (url && gate.why === "undoing") { leave(url, { note, isReturn: true }); return; }
    if (gate.why === "undoing") gate.open();
    if (note) say(note);
    prefetch();
  }
  function undo() {
    if (gate.why === "going") return;
    hush();
    if (!gate.why) dropped = [];
    gate.shut("undoing");
    send(urls.undo, []);
  }

  // A refused answer leads back to its item, which shows it with the reason.
  function refused(act, body) {
    if (act.url.endsWith("/undo/")) { settleUndo(); return; }
    const task = taskOf(act) ?? config.task;
    trail.refuse(task, act, body.message ?? "");
    if (gate.why !== "going" && (!refusal || task === config.task)) faceRefusal();
  }
  function faceRefusal() {
    const here = trail.takeRefused(config.task);
    if (!here) {
      const url = trail.refused.size && nextUrl();
      if (url) { onward.drop(url); leave(url, { isReturn: true }); }
      return;
    }
    const { act, reason } = here;
    show("refused", { reason });
    if (act.url === urls.remark) { aside.retry(act); return; }
    refusal = { box: retry(act), sentence: text("refused", { reason }), question: fieldOf(act, "question") };
    refuse(refusal.box, refusal.sentence, { byServer: true });
  }

  // Send something about the task that is on the screen, not the one that this script was started for: the server
  // compares them.
  function send(url, fields, more = {}) {
    outbox.add(url, [["task", shown.task], ...fields], { ...more, page: location.pathname, number: config.number });
  }
  function save(fields) {
    if (!config.is_open) return;
    hush();
    if (refusal?.question === fieldOf({ fields }, "question")) refusal = null;
    send(urls.choice, [...fields, ...presence.contact()]);
  }
  if (find("undo-form")) on(find("undo-form"), "submit", (event) => { event.preventDefault(); undo(); });

  const shell = { config, address, signal, find, text, announce, say, refuse, on, outbox, save, send, progress, leave: goOn, usual, prefer };
  const rhythm = startRhythm(root, { ...shell, isEarly: () => nDoneBesides < config.offer_after, isNew: () => nDoneBesides < config.new_until });
  const aside = startAside(root, { ...shell, leaveBy: leave, skipped: () => trail.settle(config.task, "skipped") });
  const presence = watchTime({ ...shell, show });
  const elsewhere = watchElsewhere({
    ...shell, renew, gone: () => say(text("gone")),
    learn(tasks) {
      for (const { task, state, revision } of tasks) {
        if (!outbox.isWaiting(task)) trail.settle(task, state);
        onward.keepOnly(task, revision);
      }
      recount();
      progress();
      prefetch();
    },
  });
  const moves = { ArrowLeft: () => follow(find("back")), ArrowRight: () => follow(find("next")), Enter: next };
  const writing = { u: undo, ...aside.keys };
  startKeyboard(root, { ...shell, aside, keyOf: (key, event) => keys(key, event) ?? moves[key] ?? (config.is_open ? writing[key] : undefined) });
  // A complete answer leads on by itself where the person chose so, except in training, where there is something to read.
  shell.isAuto = () => prefer.get("goes_on");
  shell.goOnByItself = () => { if (shell.isAuto() && !config.has_feedback) goOn(); };

  // Every way to another page of this site goes through the gate
  on(root, "click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const address = link.getAttribute("href");
    if (link.target || address.startsWith("#") || link.origin !== location.origin) return;
    event.preventDefault();
    if (link === find("onward")) onClick(); else leave(address, { open: link.matches("[data-back], [data-next], .task-number") ? null : load });
  });
  on(root, "submit", (event) => {
    const form = event.target;
    if (form.matches("[data-read-form]")) {
      event.preventDefault();
      send(urls.read, []);
      form.remove();
      return;
    }
    if (event.defaultPrevented || form.method !== "get" || !form.matches(".jump")) return;
    event.preventDefault();
    leave(`${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`);
  });
  on(window, "popstate", () => { if (!location.pathname.includes(config.task)) leave(location.href, { open: () => location.reload() }); });
  on(find("stay"), "click", () => gate.stay());
  outbox.serve({ show, answered: arrived, refused });
  queueMicrotask(() => { prefetch(); faceRefusal(); }); // once the kind has started
  return shell;
}
