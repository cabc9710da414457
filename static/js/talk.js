// Talking to the server: requests, how long to wait for the next, and the copies of typed text that this browser keeps
// until the server has them. No other script fetches anything.

// The token comes from the cookie each time: it changes with a log-in beside the page.
const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";

export class Unreachable extends Error {}

// Send a message, as JSON or as a form if it is one, or get what is there. Gives {status, body}; throws Unreachable
// where nothing came that our server would answer, or it is in trouble.
export async function request(url, message, { keepalive = false, seconds = 15 } = {}) {
  const isForm = message instanceof URLSearchParams;
  let response;
  try {
    response = await fetch(url, {
      method: message ? "POST" : "GET",
      headers: {
        accept: "application/json",
        ...(message && { "x-csrftoken": token() }),
        ...(message && !isForm && { "content-type": "application/json" }),
      },
      body: isForm ? message : message && JSON.stringify(message),
      keepalive,
      redirect: "error",
      signal: AbortSignal.timeout(seconds * 1000),
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
  return { status: response.status, body };
}

// A page of this site as {url, html}, the url where it was in the end; null where it cannot be had.
export async function fetchPage(url) {
  try {
    const response = await fetch(url, { headers: { accept: "text/html" }, signal: AbortSignal.timeout(20_000) });
    return { url: response.url, html: response.ok ? await response.text() : "" };
  } catch {
    return null;
  }
}

export function newId() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Wait `ms`, or less if the connection comes back.
export function pause(ms) {
  return new Promise((resolve) => {
    const end = () => { clearTimeout(timer); removeEventListener("online", end); resolve(); };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
  });
}
export const backoff = (attempt, longestMs = 8000) => Math.min(longestMs, 1000 * 2 ** attempt) * (0.8 + 0.4 * Math.random());

// Copies of typed text in this browser. Each tab has its own, so that no tab removes what another has not sent yet;
// a copy goes once the server has said that it holds that text.

const NAME = /^(session|notes):([0-9a-f-]{36})(?::(\w+))?$/;
const parse = (key) => {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
};

// All copies of a kind (`session` or `notes`), the newest first: the records with `key` and `session`.
export function copies(kind, session) {
  let keys = [];
  try { keys = Object.keys(localStorage); } catch { /* nothing is kept here */ }
  return keys.flatMap((key) => {
    const [, ofKind, of] = NAME.exec(key) ?? [];
    if (ofKind !== kind || (session && of !== session)) return [];
    const record = parse(key);
    return typeof record?.text === "string" ? [{ at: 0, ...record, key, session: of }] : [];
  }).sort((one, other) => other.at - one.at);
}

// Remove a copy, unless its tab has typed on meanwhile.
export function release(copy) {
  if (!copy?.key || parse(copy.key)?.text !== copy.text) return;
  try { localStorage.removeItem(copy.key); } catch { /* nothing is kept here */ }
}

// The copy of one tab. `onFull` is told, once, that the browser keeps none.
export class Copy {
  constructor(kind, { session, person, tab, onFull }) {
    Object.assign(this, { key: `${kind}:${session}:${tab}`, person, tab, onFull });
  }

  // Tells whether it was kept.
  write(record) {
    try {
      localStorage.setItem(this.key, JSON.stringify({ at: Date.now(), ...record, tab_id: this.tab, person: this.person }));
      return true;
    } catch {
      this.onFull?.();
      this.onFull = null;
      return false;
    }
  }

  clear() {
    try { localStorage.removeItem(this.key); } catch { /* nothing was kept */ }
  }
}

// The time of day as HH:MM:SS, where the person is by their profile.
const clocks = new Map(); // by zone: to make one takes longer than to ask it
export function timeOfDay(zone, date = new Date()) {
  if (!clocks.has(zone)) clocks.set(zone, clockOf(zone));
  return clocks.get(zone).format(date);
}
function clockOf(timeZone) {
  const shape = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
  try {
    return new Intl.DateTimeFormat("en-GB", { ...shape, timeZone });
  } catch {
    return new Intl.DateTimeFormat("en-GB", shape); // a zone that this browser does not know
  }
}
