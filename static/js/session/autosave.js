// Saving: one save in flight, the same operation repeated until it is answered, nothing dropped before that.
import { timeOfDay } from "../talk.js";
import { Unreachable, announce, backoff, call, clearNotice, config, events, find, keptTexts, local, newId, notice, pause, release, tabId, text } from "./wire.js";

const IDLE_MS = 1500;
const LONGEST_MS = 5000;
const LARGEST_BYTES = 60 * 1024;
const bytes = (value) => new TextEncoder().encode(value).length;

const STORED = [200, 409, 410]; // answers that say that the server holds the text, whatever it does with it
const APART = ["tab_lost", "closed"]; // refusals after which that text is not sent again

// States: waiting (for the server's text), open, blocked (typing goes on, sending waits), late (the session is over
// and the text has to be shortened), stopped (read-only).
export class Autosave {
  constructor(editor, { activeMs, onRefused }) {
    Object.assign(this, { editor, activeMs, onRefused });
    this.rev = config.rev;
    this.stored = editor.value; // the text of revision `rev`
    this.apart = null; // the text that the server has stored apart, not as the draft
    this.operation = null; // sent or about to be sent, not answered
    this.typedAt = Date.now();
    this.offlineSince = 0;
    this.isOffline = false; // nothing is heard from the server
    this.wasOffline = false; // and the person was told
    this.savedAt = new Date(); // when the server said that it holds the text
    this.isRestored = false;
    this.state = "waiting";
    this.sending = null;
    this.unsavedSince = 0;
    editor.addEventListener("input", () => { this.typedAt = Date.now(); this.changed(); });
    addEventListener("beforeunload", (event) => { if (this.isLive && this.isDirty) event.preventDefault(); });
    addEventListener("pagehide", () => this.leave());
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.flush({ keepalive: true }); });
  }

  get isLive() { return ["open", "blocked", "late"].includes(this.state); }
  get isDirty() { return this.operation !== null || this.editor.value !== this.stored; }

  changed() {
    if (!this.isLive) return;
    this.keep();
    if (this.state !== "open") return;
    if (!this.isDirty) { this.show("saved"); return; }
    clearNotice("online");
    if (bytes(this.editor.value) > LARGEST_BYTES) { this.tooLong(); return; }
    clearNotice("too-long");
    this.show("unsaved");
    const now = Date.now();
    this.unsavedSince ||= now;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), Math.max(0, Math.min(IDLE_MS, this.unsavedSince + LONGEST_MS - now)));
  }

  // Tells whether this browser holds all that the server does not.
  keep() {
    if (!this.isDirty) { local.clear(); return true; }
    return local.write({ text: this.editor.value, base_rev: this.rev, op_id: this.operation?.op_id ?? "", sent: this.operation?.text ?? null, at: this.typedAt });
  }

  // Go on from what the server holds: put back what this browser kept if it builds on that, or let the person pick.
  async adopt(server, mine) {
    for (const copy of keptTexts()) if (copy.text === server.text) release(copy);
    Object.assign(this, { rev: server.rev, stored: server.text, savedAt: new Date(), apart: null, operation: null, state: "open", unsavedSince: 0 });
    const differs = Boolean(mine) && mine.text !== server.text;
    const isOther = differs && mine.base_rev !== server.rev && mine.sent !== server.text;
    this.editor.readOnly = isOther;
    this.put(differs ? mine.text : server.text);
    if (isOther) {
      Object.assign(this, { state: "waiting", rev: mine.base_rev ?? 0 });
      await this.comparing(server, mine);
    } else if (differs) {
      notice("restored", text("restored"), { kind: "good", seconds: 12 });
      Object.assign(this, { isRestored: true, typedAt: mine.at || Date.now() });
      this.changed();
      if (this.keep() && mine.key !== local.key) release(mine);
    } else {
      local.clear();
      this.show(server.rev ? "saved" : "idle");
    }
  }

  // A kept text that builds on another one than the server's: the server gets it first, so that whatever the person
  // picks, both are stored.
  async comparing(server, mine) {
    const message = { tab_id: tabId, op_id: mine.sent === mine.text && mine.op_id ? mine.op_id : newId(), base_rev: mine.base_rev ?? 0, text: mine.text, source: "restored", typed_at: mine.at || Date.now() };
    const { status, body } = await this.insist("draft", message);
    if (status === 200) { // it was the draft once, and was written over since
      release(mine);
      this.adopt(server, null);
    } else {
      if (body.code === "conflict") this.compared = mine;
      this.refuse(status === 401 || status === 403 ? "login" : (body.code ?? String(status)), body);
    }
  }

  // Send until there is an answer.
  async insist(name, message) {
    for (let attempt = 0; ; attempt++) {
      try {
        return await call(name, message);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.show("offline");
        await pause(backoff(attempt));
      }
    }
  }

  // The session is over: whatever the server does not hold goes there, to be stored apart. Tells whether all did.
  async deliver() {
    this.state = "stopped";
    while (this.isDirty && this.editor.value !== this.apart) {
      const { op_id, base_rev, text: typed, typed_at } = this.operation ??= this.made("late");
      this.keep();
      const { status, body } = await this.insist("draft", { tab_id: tabId, op_id, base_rev, text: typed, typed_at, source: "late" });
      this.operation = null;
      if (STORED.includes(status)) { this.apart = typed; continue; }
      if (status === 413) {
        Object.assign(this, { state: "late" });
        this.editor.readOnly = false;
        this.tooLong();
      } else {
        this.refuse(status === 401 || status === 403 ? "login" : (body.code ?? String(status)), body);
      }
      return false;
    }
    local.clear();
    return true;
  }

  put(value) {
    if (this.editor.value === value) return;
    this.editor.value = value;
    this.editor.dispatchEvent(new CustomEvent("replaced"));
  }

  // What a save, a pause or a submit carries: the operation under way, or a new one with the text as it is.
  draft(source, more = {}) {
    this.operation ??= this.made(source, more);
    return { ...this.operation, client_active_ms: Math.round(this.activeMs()), offline_ms: this.offlineSince && Date.now() - this.offlineSince };
  }

  made(source, more) {
    return { op_id: newId(), base_rev: this.rev, text: this.editor.value, source: this.isRestored ? "restored" : source, typed_at: this.typedAt, ...more };
  }

  flush({ keepalive = false, source = "typing", more } = {}) {
    clearTimeout(this.timer);
    if (this.sending) return this.sending;
    if (this.state !== "open" || !this.isDirty || bytes(this.editor.value) > LARGEST_BYTES) return Promise.resolve();
    return this.start("draft", { keepalive, source, more });
  }

  // Send the text along with a pause or a submit, after the save under way. Gives the answer, or nothing if unwanted.
  async carry(name, { onWait, isWanted }) {
    const timer = setTimeout(onWait, 3000);
    while (this.sending || (this.operation && isWanted() && this.state === "open")) await (this.sending ?? this.start("draft", { isWanted })); // no older text goes along
    clearTimeout(timer);
    clearTimeout(this.timer);
    return isWanted() && this.state === "open" ? this.start(name, { source: name, onWait, isWanted }) : undefined;
  }

  start(name, how) {
    this.sending = this.send(name, how).finally(() => {
      this.sending = null;
      if (this.state === "open" && this.isDirty) this.changed();
    });
    return this.sending;
  }

  async send(name, { keepalive, source, more, onWait, isWanted = () => true }) {
    for (let attempt = 0; this.state === "open" && isWanted(); attempt++) {
      const waiting = keepalive ? [] : events.waiting();
      const isTooLong = name === "pause" && bytes(this.editor.value) > LARGEST_BYTES; // it stays in this browser
      const message = { tab_id: tabId, ...(isTooLong ? {} : this.draft(source, more)) };
      this.keep();
      this.show(attempt ? "offline" : "saving");
      try {
        const isSmall = bytes(JSON.stringify(message)) < LARGEST_BYTES;
        const answer = await call(name, { ...message, events: waiting }, { keepalive: keepalive && isSmall });
        if (answer.status === 200) events.done(waiting);
        this.answered(answer);
        return answer;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        this.offlineSince ||= this.typedAt;
        if (attempt === 1) { this.wasOffline = true; announce(text("offline")); }
        this.show("offline");
        onWait?.();
        keepalive = false;
        await pause(backoff(attempt));
      }
    }
    return undefined;
  }

  answered({ status, body }) {
    if (status === 200) {
      this.rev = body.rev ?? this.rev;
      this.stored = this.operation?.text ?? this.stored;
      this.operation = null;
      this.unsavedSince = 0;
      this.isRestored = false;
      this.savedAt = new Date();
      this.keep();
      this.show(this.isDirty ? "unsaved" : "saved");
      if (!this.isDirty) this.caughtUp();
    } else if (status === 413) {
      this.operation = null;
      this.tooLong();
    } else {
      this.refuse(status === 401 || status === 403 ? "login" : (body.code ?? String(status)), body);
    }
  }

  // The server holds the very text that is on the screen; what was typed while a save was under way came after it.
  caughtUp() {
    this.offlineSince = 0;
    if (this.wasOffline) notice("online", text("online"), { kind: "good", seconds: 5 });
    this.wasOffline = false;
  }

  // Only a lost login keeps the operation: it is sent again afterwards. Every other refusal has stored the text.
  refuse(code, body) {
    clearTimeout(this.timer);
    this.state = code === "login" ? "blocked" : "stopped";
    if (APART.includes(code)) this.apart = this.operation?.text ?? this.apart;
    if (code !== "login") this.operation = null;
    this.editor.readOnly = code !== "login";
    if (APART.includes(code) && this.editor.value === this.apart) local.clear();
    else this.keep();
    this.show("unsaved"); // nothing is on its way any more
    this.onRefused(code, body);
  }

  tooLong() {
    this.keep();
    this.show("problem", text("state-too-long"));
    notice("too-long", text("too-long"), { kind: "bad" });
  }

  // The page goes away. An operation under way may be cut off, so it is sent once more; its id makes that harmless.
  leave() {
    if (this.state !== "open" || !this.isDirty) return;
    const message = { tab_id: tabId, ...this.draft("leave") };
    this.keep();
    if (bytes(JSON.stringify(message)) < LARGEST_BYTES) call("draft", message, { keepalive: true }).catch(() => {});
  }

  show(kind, message) {
    const state = find("save-state");
    this.isOffline = kind === "offline";
    state.dataset.kind = this.isOffline ? "problem" : kind;
    state.textContent = message ?? text(kind, { time: timeOfDay(config.time_zone, this.savedAt) });
    const said = find("said"); // on a telephone, where the bar has room for a sign only
    said.hidden = state.dataset.kind !== "problem";
    said.textContent = said.hidden ? "" : state.textContent;
  }
}
