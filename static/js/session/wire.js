// What the page shares: its configuration and sentences, requests, the copies in this browser, the event queue.
import { Copy, Unreachable, copies, newId, request } from "../talk.js";

export { Unreachable, backoff, newId, pause, release } from "../talk.js";

const root = document.querySelector("[data-config]");
export const config = JSON.parse(root.dataset.config);
export const find = (name) => root.querySelector(`[data-${name}]`);

const sentences = Object.fromEntries(
  [...root.querySelectorAll("[data-text]")].map((each) => [each.dataset.text, each.textContent.trim()]),
);
export const text = (name, values = {}) =>
  sentences[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);

export function announce(message) {
  find("announce").textContent = message;
}

export const tabId = newId();

// A notice over the documents; `name` names its place, so that the same one is not shown twice. One that asks for
// nothing can be closed.
export function notice(name, message, { kind = "warn", actions = [], seconds = 0 } = {}) {
  clearNotice(name);
  const box = document.createElement("div");
  box.className = `notice ${kind}`;
  box.dataset.notice = name;
  const close = Object.assign(button("×", () => box.remove()), { className: "quiet notice-close", ariaLabel: text("close") });
  box.append(Object.assign(document.createElement("span"), { textContent: message }), ...(actions.length ? actions : [close]));
  find("notices").append(box);
  announce(message);
  if (seconds) setTimeout(() => box.remove(), seconds * 1000);
}
export function clearNotice(name) {
  root.querySelector(`[data-notice="${name}"]`)?.remove();
}
export function button(label, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: label });
  made.addEventListener("click", act);
  return made;
}

// Requests. Every answer that tells the clock is passed on.
const listeners = new Set();
export const onAnswer = (listener) => listeners.add(listener);

export async function call(name, message, options) {
  const answer = await request(config.urls[name], message, options);
  if ("remaining_ms" in answer.body) for (const listener of listeners) listener(answer.body);
  return answer;
}

// The copies in this browser: written at every input, removed after the server's answer.
const mine = { session: config.session, person: config.person, tab: tabId, onFull: () => notice("no-local", text("no-local")) };
export const local = new Copy("session", mine);
export const localNotes = new Copy("notes", mine);
export const keptTexts = () => copies("session", config.session);
export const keptNotes = () => copies("notes", config.session);

// Events: numbered in this tab, each with the time at which it happened, dropped only once answered. Saves and
// heartbeats take them along; what waits for neither goes by itself in less than a second.
const SOON_MS = 700;
const AGAIN_MS = 10_000;
const queue = [];
let nextSeq = 1;
let sending = 0;
const later = (ms) => { sending ||= setTimeout(() => { sending = 0; sendEvents(); }, ms); };

async function sendEvents({ keepalive = false } = {}) {
  const waiting = events.waiting();
  if (!waiting.length) return;
  try {
    const { status } = await call("events", { tab_id: tabId, events: waiting }, { keepalive });
    if (status === 200) events.done(waiting);
    if (queue.length && status !== 404) later(status === 200 ? SOON_MS : AGAIN_MS);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    later(AGAIN_MS);
  }
}
addEventListener("pagehide", () => sendEvents({ keepalive: true }));
document.addEventListener("visibilitychange", () => { if (document.hidden) sendEvents({ keepalive: true }); });

export const events = {
  log(type, payload = {}, at = Date.now()) {
    queue.push({ seq: nextSeq++, type, at, payload });
    if (queue.length > 500) queue.shift();
    later(SOON_MS);
  },
  waiting: () => queue.slice(0, 100),
  done(sent) {
    const last = sent.at(-1)?.seq ?? 0;
    while (queue.length && queue[0].seq <= last) queue.shift();
  },
};
