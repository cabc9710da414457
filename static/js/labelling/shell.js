// What every page of label work does: the state of saving, undo, guidelines, keys, going on and back.
import { startAside } from "./aside.js";
import { Gate, isTyping } from "./gate.js";
import { load, noteLeft, Onward } from "./onward.js";
import { Outbox, sendLeftovers } from "./outbox.js";
import { watchTime } from "./presence.js";
import { startVoice, timeOfDay } from "./voice.js";

const KINDS = { login: "problem", refused: "problem", offline: "unsaved", still: "unsaved" };
let arrival = null; // what the page before hands to the one that takes its place
let startTask = null;

// Start the task on the page by `start(root)`, which later also starts those that take its place; then send what
// another page of this browser could not.
export function run(start) {
  const root = document.querySelector("[data-label-task]");
  startTask = start;
  start(root);
  sendLeftovers(JSON.parse(root.dataset.config));
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
}

// `answered(act, body)` gets what an act on this task came to; `keys(key)` gives what a key does beside the common
// ones, if anything; `next()` is Enter, and `onClick()` the button to the next task, where that is something else.
export function startShell(root, { answered, keys, next, onClick = next }) {
  const config = JSON.parse(root.dataset.config), { urls } = config;
  const find = (name) => root.querySelector(`[data-${name}]`);
  const life = new AbortController(), { signal } = life; // ends when the next task takes this one's place
  const on = (target, type, act) => target.addEventListener(type, act, { signal });
  const { text, announce, say, refuse, hush } = startVoice(root, signal);
  root.classList.add("has-scripts");

  const swap = (page, note) => { life.abort(); arrival = { note }; root.replaceWith(page); scrollTo(0, 0); startTask(page); };
  const onward = new Onward({ selector: `[data-label-task="${config.kind}"]`, swap });
  const onwardUrl = find("onward").getAttribute("href");
  let outbox = null; // its first word may come while it is made
  outbox = new Outbox(config, { show, answered: arrived, refused: (act, body) => { show("refused", { reason: body.message ?? "?" }); if (act.url === urls.undo) settleUndo(); } });

  function show(kind, values = {}) {
    const place = find("save-state");
    place.dataset.kind = KINDS[kind] ?? kind;
    place.textContent = text(kind, { time: timeOfDay(config.time_zone, outbox?.storedAt ?? undefined), ...values });
    if (kind === "login") place.append(" ", Object.assign(document.createElement("a"), { href: urls.login, target: "_blank", rel: "noopener", textContent: text("login-link") }));
    if (kind === "refused") say(place.textContent);
  }

  // The gate: shut while this item is being left or an undo is on its way
  let dropped = [], trip = 0, isLoading = false;
  const droppedNote = () => (dropped.length ? text(gate.why === "undoing" ? "dropped-undoing" : "dropped", { keys: dropped.join(" ") }) : "");
  const gate = new Gate(root, {
    signal,
    dropped: (key) => { dropped.push(key || text("a-click")); say(droppedNote()); },
    stay: () => { trip += 1; if (isLoading) window.stop(); gate.open(); say(text("stayed")); },
  });
  if (arrival) gate.openOncePainted();
  const noteHere = arrival ? arrival.note : noteLeft();
  arrival = null;
  if (noteHere) setTimeout(() => say(noteHere), 50); // after the live region is there

  // Leave once everything is stored, for an address or what `where` comes to. A refused answer keeps one here,
  // and so does Escape.
  async function leave(where, { note = "", open = null } = {}) {
    if (gate.why === "going") return;
    if (!gate.why) dropped = [];
    gate.shut("going");
    const mine = ++trip, nRefused = outbox.nRefused, isWanted = () => mine === trip;
    const notes = () => [note, droppedNote()].filter(Boolean).join(" ");
    await outbox.running;
    if (!isWanted()) return;
    const url = outbox.nRefused > nRefused ? "" : typeof where === "string" ? where : await where();
    if (!isWanted()) return;
    if (!url) { gate.open(); return; }
    if (open) { isLoading = true; open(url, notes()); return; }
    if (await onward.visit(url, { isWanted, note: notes })) return;
    gate.open();
    say(text("unreachable"));
  }
  const follow = (link) => { if (link?.href) leave(link.getAttribute("href")); };

  // Answers and undo, in order. An undo may concern another task: then it leads there.
  const isWaiting = (url) => outbox.acts.some((act) => act.url === url);
  let undone = [], elsewhere = null;
  function arrived(act, body) {
    if (act.url === urls.remark) { aside.kept(body, isWaiting(urls.remark)); return; }
    if (act.url !== urls.undo) { answered(act, body); if (body.state === "done") onward.prefetch(onwardUrl); else onward.forget(); return; }
    onward.forget();
    undone.push(body.nothing ? text("nothing") : body.message);
    const isHere = body.nothing || body.task === config.task;
    if (!body.nothing) elsewhere = isHere ? null : body.next;
    if (isHere && !body.nothing) answered(act, body);
    settleUndo();
  }
  function settleUndo() {
    if (isWaiting(urls.undo)) return;
    const note = undone.join(" "), url = elsewhere;
    undone = [];
    elsewhere = null;
    if (url && gate.why === "undoing") { leave(url, { note }); return; }
    if (gate.why === "undoing") gate.open();
    if (note) say(note);
  }
  function undo() {
    if (gate.why === "going") return;
    hush();
    if (!gate.why) dropped = [];
    gate.shut("undoing");
    outbox.add(urls.undo, [["task", config.task]]);
  }
  function save(fields) {
    if (!config.is_open) return;
    hush();
    presence.contact();
    // The task that is on the screen, not the one that this script was started for: the server compares them.
    outbox.add(urls.choice, [["task", JSON.parse(document.querySelector("[data-config]").dataset.config).task], ...fields]);
  }
  if (config.is_open) on(find("undo-form"), "submit", (event) => { event.preventDefault(); undo(); });

  const shell = { config, signal, find, text, announce, say, refuse, on, outbox, save, isWaiting, leave: () => leave(onwardUrl), prefetch: () => onward.prefetch(onwardUrl) };
  const aside = startAside(root, { ...shell, leaveBy: leave });
  const presence = watchTime({ ...shell, show });

  // guidelines and keys
  const guide = find("guide"), keysOn = find("keys-on"), keysOff = `${config.kind}:keys-off`;
  const toggleGuide = (open = !guide.open) => { if (open) guide.show(); else guide.close(); };
  on(find("open-guide"), "click", (event) => { event.preventDefault(); toggleGuide(); });
  on(find("close-guide"), "click", () => toggleGuide(false));
  const showKeys = () => root.classList.toggle("keys-off", !keysOn.checked);
  try { keysOn.checked = !localStorage.getItem(keysOff); } catch { /* always on */ }
  showKeys();
  on(keysOn, "change", () => {
    showKeys();
    try { if (keysOn.checked) localStorage.removeItem(keysOff); else localStorage.setItem(keysOff, "1"); } catch { /* for this page only */ }
  });

  const common = { ArrowLeft: () => follow(find("back")), ArrowRight: () => follow(find("next")), "?": () => toggleGuide(), Enter: next };
  const writing = { u: undo, ...aside.keys };
  on(document, "keydown", (event) => {
    const { key, target } = event;
    if (key === "Escape") {
      if (isTyping(target) && target.type === "search") return;
      toggleGuide(false);
      aside.close();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !keysOn.checked || isTyping(target)) return;
    const act = aside.has(target) ? aside.choose(key, target) : common[key] ?? keys(key) ?? (config.is_open ? writing[key] : undefined);
    if (!act || (key === "Enter" && target.closest("a, button, summary"))) return;
    event.preventDefault();
    act();
  });

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
    if (event.defaultPrevented || form.method !== "get" || !form.matches(".jump")) return;
    event.preventDefault();
    leave(`${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`);
  });
  on(window, "popstate", () => { if (!location.pathname.includes(config.task)) leave(location.href, { open: () => location.reload() }); });
  on(find("stay"), "click", () => gate.stay());
  on(window, "beforeunload", (event) => { if (!outbox.isEmpty) event.preventDefault(); });
  return shell;
}
