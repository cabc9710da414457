// What the page shares: its configuration and sentences, requests, the copy in this browser, the event queue.
const root = document.querySelector("[data-config]");
export const config = JSON.parse(root.dataset.config);
export const find = (name) => root.querySelector(`[data-${name}]`);

const sentences = Object.fromEntries(
  [...root.querySelectorAll("[data-text]")].map((each) => [each.dataset.text, each.textContent]),
);
export const text = (name, values = {}) =>
  sentences[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);

export function announce(message) {
  find("announce").textContent = message;
}

export function newId() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
export const tabId = newId();

// A notice under the bar; `name` names its place, so that the same one is not shown twice.
export function notice(name, message, { kind = "warn", actions = [], seconds = 0 } = {}) {
  clearNotice(name);
  const box = document.createElement("div");
  box.className = `notice ${kind}`;
  box.dataset.notice = name;
  box.append(Object.assign(document.createElement("span"), { textContent: message }), ...actions);
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

// Requests. The token comes from the cookie each time: it changes with a log-in beside this page.
const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";
const listeners = new Set();
export const onAnswer = (listener) => listeners.add(listener);

export class Unreachable extends Error {}

// Gives {status, body}; throws Unreachable where no answer came or the server is in trouble.
export async function call(name, message, { keepalive = false, seconds = 15 } = {}) {
  let response;
  try {
    response = await fetch(config.urls[name], {
      method: message ? "POST" : "GET",
      headers: { accept: "application/json", ...(message && { "content-type": "application/json", "x-csrftoken": token() }) },
      body: message && JSON.stringify(message),
      keepalive,
      redirect: "error",
      signal: keepalive ? undefined : AbortSignal.timeout(seconds * 1000),
    });
  } catch {
    throw new Unreachable();
  }
  if (response.status >= 500 || response.status === 429) throw new Unreachable();
  let body = {};
  try {
    body = await response.json();
  } catch {
    if (response.ok) throw new Unreachable();
  }
  if ("remaining_ms" in body) for (const listener of listeners) listener(body);
  return { status: response.status, body };
}

// The copy in this browser: written at every input, removed after the server's answer.
const key = `session:${config.session}`;
let canKeep = true;
export const local = {
  read() {
    try {
      return JSON.parse(localStorage.getItem(key));
    } catch {
      return null;
    }
  },
  write(record) {
    try {
      localStorage.setItem(key, JSON.stringify({ ...record, tab_id: tabId, at: Date.now() }));
    } catch {
      if (canKeep) notice("no-local", text("no-local"));
      canKeep = false;
    }
  },
  clear() {
    try {
      localStorage.removeItem(key);
    } catch { /* nothing was kept */ }
  },
};

// Events: numbered in this tab, sent with saves and heartbeats, dropped only once answered.
const queue = [];
let nextSeq = 1;
export const events = {
  log(type, payload = {}) {
    queue.push({ seq: nextSeq++, type, payload });
    if (queue.length > 500) queue.shift();
  },
  waiting: () => queue.slice(0, 100),
  done(sent) {
    const last = sent.at(-1)?.seq ?? 0;
    while (queue.length && queue[0].seq <= last) queue.shift();
  },
};

// Wait `ms`, or less if the connection comes back.
export function pause(ms) {
  return new Promise((resolve) => {
    const end = () => { clearTimeout(timer); removeEventListener("online", end); resolve(); };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
  });
}
export const backoff = (attempt) => Math.min(8000, 1000 * 2 ** attempt) * (0.8 + 0.4 * Math.random());
