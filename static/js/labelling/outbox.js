// Acts on their way to the server, in order, one at a time; kept in this browser until they are answered.
const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";
const newId = () => [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const wait = (ms) => new Promise((resolve) => {
  const end = () => { clearTimeout(timer); removeEventListener("online", end); resolve(); };
  const timer = setTimeout(end, ms);
  addEventListener("online", end);
});
const backoff = (attempt) => Math.min(20_000, 1000 * 2 ** attempt) * (0.8 + 0.4 * Math.random());

export class Unreachable extends Error {}

// Gives {status, body}; throws Unreachable where no answer came or the server is in trouble.
export async function post(url, fields, { keepalive = false } = {}) {
  let response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { accept: "application/json", "x-csrftoken": token() },
      body: new URLSearchParams(fields),
      keepalive,
      redirect: "error",
      signal: keepalive ? undefined : AbortSignal.timeout(15_000),
    });
  } catch {
    throw new Unreachable();
  }
  if (response.status >= 500 || response.status === 429) throw new Unreachable();
  const body = await response.json().catch(() => ({}));
  return { status: response.status, body };
}

export class Outbox {
  // `show(kind, values)` tells of the state; `answered(act, body)` and `refused(act, body)` of what came of an act.
  constructor(config, { show, answered, refused }) {
    Object.assign(this, { show, answered, refused });
    this.key = `${config.kind}:${config.person}:${config.task}`;
    this.acts = [];
    this.running = null;
    this.storedAt = null; // when the server last changed something on this page's word
    this.nRefused = 0;
    try { this.acts = (JSON.parse(localStorage.getItem(this.key)) ?? []).map(onlyHere); } catch { /* nothing was kept */ }
    if (this.acts.length) this.running = this.run();
  }

  get isEmpty() { return this.acts.length === 0; }

  add(url, fields) {
    this.acts.push({ url, fields: [...fields, ["op_id", newId()]] });
    this.keep();
    this.running ??= this.run();
    return this.running;
  }

  async run() {
    for (let attempt = 0; this.acts.length;) {
      this.show(attempt ? "offline" : "saving");
      const act = this.acts[0];
      try {
        const { status, body } = await post(act.url, act.fields);
        if (status === 401 || status === 403) { this.show("login"); await wait(5000); continue; }
        attempt = 0;
        this.acts.shift();
        this.keep();
        if (status === 200) {
          if (!body.nothing && !body.unchanged) this.storedAt = new Date();
          if (!this.acts.length) this.rest();
          this.answered(act, body);
        } else {
          this.nRefused += 1;
          this.refused(act, body);
        }
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.show("offline");
        await wait(backoff(attempt++));
      }
    }
    this.running = null;
  }

  // Say "saved" only of what was stored.
  rest() { this.show(this.storedAt ? "saved" : "idle"); }

  keep() {
    try {
      if (this.acts.length) localStorage.setItem(this.key, JSON.stringify(this.acts)); else localStorage.removeItem(this.key);
    } catch { /* private mode: the page asks before it is left */ }
  }
}

// An undo that was kept over a reload must not reach what was answered elsewhere since.
const onlyHere = (act) => (act.url.endsWith("/undo/") ? { ...act, fields: [...act.fields.filter(([name]) => name !== "here"), ["here", "1"]] } : act);

// What this person chose on other tasks and what never arrived; each act has an id, so twice is once.
export async function sendLeftovers(config) {
  const mine = `${config.kind}:${config.person}:`;
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(mine) && !name.endsWith(config.task))) {
    const acts = JSON.parse(localStorage.getItem(key)) ?? [];
    for (const act of acts) {
      const answer = await post(act.url, onlyHere(act).fields).catch(() => null);
      if (!answer || answer.status === 401 || answer.status === 403) return;
    }
    localStorage.removeItem(key);
  }
}
