// Acts on their way to the server, in order, one at a time, whatever item is on the screen meanwhile. They are kept in
// this browser until the server has answered them. Each has an id: to send it twice is to send it once.
import { painted } from "./gate.js";
import { Unreachable, backoff, newId, pause, request } from "../talk.js";

const LONGEST_MS = 20_000, MOST_AGO_MS = 999_999_999;
export const fieldOf = (act, name) => act.fields.find(([each]) => each === name)?.[1];
export const taskOf = (act) => fieldOf(act, "task");

export class Outbox {
  // `page` is what is on the screen: `show(kind, values)` the state, `answered(act, body)`, `refused(act, body)`.
  constructor(config) {
    const mine = `${config.kind}:${config.person}:`;
    this.key = mine + newId();
    this.page = null;
    this.state = ["idle", {}];
    this.acts = [];
    this.running = null;
    this.waiting = []; // for the acts to be stored, or for the word that they cannot be now
    this.storedAt = null; // when the server last changed something on this page's word
    try { this.adopt(Object.keys(localStorage).filter((key) => key.startsWith(mine))); } catch { /* nothing was kept */ }
  }

  // What other pages of this person could not send, perhaps because they were closed or loaded anew.
  adopt(keys) {
    const lists = keys.map((key) => JSON.parse(localStorage.getItem(key)) ?? []);
    this.acts = lists.flat().map(onlyHere);
    this.keep();
    for (const key of keys) localStorage.removeItem(key);
  }

  // Another item is on the screen from now on.
  serve(page) {
    this.page = page;
    this.page.show(...this.state);
    if (this.acts.length) this.running ??= this.run();
  }

  get isEmpty() { return this.acts.length === 0; }
  isWaiting(task, url) { return this.acts.some((act) => taskOf(act) === task && (!url || act.url === url)); }

  // `more` stays with the act: what the page needs once it is answered.
  add(url, fields, more = {}) {
    this.acts.push({ ...more, url, at: Date.now(), fields: [...fields, ["op_id", newId()]] });
    this.keep();
    this.running ??= this.run();
    return this.running;
  }

  show(...state) {
    this.state = state;
    if (this.isOffline) this.tell(false);
    this.page.show(...state);
  }
  get isOffline() { return this.state[0] === "offline"; }
  tell(isStored) { for (const resolve of this.waiting.splice(0)) resolve(isStored); }
  // Wait until all acts are stored, which gives true, or until there is no connection.
  async settled() {
    if (!this.running) return true;
    return this.isOffline ? false : new Promise((resolve) => this.waiting.push(resolve));
  }

  async run() {
    for (let attempt = 0; this.acts.length;) {
      this.show(attempt ? "offline" : "saving", {});
      if (!document.hidden) await painted(); // the next item first: to send takes the browser a while
      const act = this.acts[0];
      try {
        const { status, body } = await request(act.url, new URLSearchParams([...act.fields, ["ago", String(age(act))]]), { keepalive: document.hidden });
        if (status === 401 || status === 403) { this.show("login", {}); await pause(5000); continue; }
        attempt = 0;
        this.acts.shift();
        this.keep();
        if (status === 200) {
          if (!body.nothing && !body.unchanged) this.storedAt = new Date();
          if (!this.acts.length) this.rest();
          this.page.answered(act, body);
        } else {
          this.show("refused", { reason: body.message ?? status });
          this.page.refused(act, body);
        }
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.show("offline", {});
        await pause(backoff(attempt++, LONGEST_MS));
      }
    }
    this.running = null;
    this.tell(true);
  }

  // Say "saved" only of what was stored.
  rest() { this.show(this.storedAt ? "saved" : "idle", {}); }

  keep() {
    try {
      if (this.acts.length) localStorage.setItem(this.key, JSON.stringify(this.acts)); else localStorage.removeItem(this.key);
    } catch { /* private mode: the page asks before it is left */ }
  }
}

// How long ago it was, in ms: the time of work without a connection counts too.
const age = ({ at = Date.now() }) => Math.min(MOST_AGO_MS, Math.max(0, Date.now() - at));

// An undo that was kept over a reload must not reach what was answered elsewhere since.
const onlyHere = (act) => (act.url.endsWith("/undo/") ? { ...act, fields: [...act.fields.filter(([name]) => name !== "here"), ["here", "1"]] } : act);
