// Acts on their way to the server, in order, one at a time; kept in this browser until they are answered.
import { Unreachable, backoff, newId, pause, request } from "../talk.js";

const LONGEST_MS = 20_000;
const post = (act) => request(act.url, new URLSearchParams(act.fields));

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
        const { status, body } = await post(act);
        if (status === 401 || status === 403) { this.show("login"); await pause(5000); continue; }
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
        await pause(backoff(attempt++, LONGEST_MS));
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

// What this annotator chose on other tasks and what never arrived; each act has an id, so twice is once.
export async function sendLeftovers(config) {
  const mine = `${config.kind}:${config.person}:`;
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(mine) && !name.endsWith(config.task))) {
    const acts = JSON.parse(localStorage.getItem(key)) ?? [];
    for (const act of acts) {
      const answer = await post(onlyHere(act)).catch(() => null);
      if (!answer || answer.status === 401 || answer.status === 403) return;
    }
    localStorage.removeItem(key);
  }
}
