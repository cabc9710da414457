// Saving: one save in flight, the same operation repeated until it is answered, nothing dropped before that.
import { Unreachable, announce, backoff, call, clearNotice, config, events, find, local, newId, notice, pause, tabId, text } from "./wire.js";

const IDLE_MS = 1500;
const LONGEST_MS = 5000;
const LARGEST_BYTES = 60 * 1024;
const bytes = (value) => new TextEncoder().encode(value).length;

// States: waiting (for the server's text), open, blocked (typing goes on, sending waits), stopped (read-only).
export class Autosave {
  constructor(editor, { activeMs, onRefused }) {
    Object.assign(this, { editor, activeMs, onRefused });
    this.rev = config.rev;
    this.stored = editor.value; // the text of revision `rev`
    this.operation = null; // sent or about to be sent, not answered
    this.state = "waiting";
    this.sending = null;
    this.unsavedSince = 0;
    editor.addEventListener("input", () => this.changed());
    addEventListener("beforeunload", (event) => { if (this.isLive && this.isDirty) event.preventDefault(); });
    addEventListener("pagehide", () => this.leave());
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.flush({ keepalive: true }); });
  }

  get isLive() { return this.state === "open" || this.state === "blocked"; }
  get isDirty() { return this.operation !== null || this.editor.value !== this.stored; }

  changed() {
    if (!this.isLive) return;
    this.keep();
    if (this.state === "blocked") return;
    if (!this.isDirty) { this.show("saved"); return; }
    if (bytes(this.editor.value) > LARGEST_BYTES) { this.tooLong(); return; }
    clearNotice("too-long");
    this.show("unsaved");
    const now = Date.now();
    this.unsavedSince ||= now;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), Math.max(0, Math.min(IDLE_MS, this.unsavedSince + LONGEST_MS - now)));
  }

  keep() {
    if (!this.isDirty) { local.clear(); return; }
    local.write({ text: this.editor.value, base_rev: this.rev, op_id: this.operation?.op_id ?? "", sent: this.operation?.text ?? null });
  }

  // Go on from what the server holds: put back what this browser kept if it builds on that, or let the person pick.
  adopt(server, mine) {
    Object.assign(this, { rev: server.rev, stored: server.text, operation: null, state: "open", unsavedSince: 0 });
    this.editor.readOnly = false;
    const differs = Boolean(mine) && mine.text !== server.text;
    this.put(differs ? mine.text : server.text);
    if (differs && mine.base_rev !== server.rev && mine.sent !== server.text) {
      this.refuse("conflict", { server_text: server.text, server_sha256: server.sha256 });
    } else if (differs) {
      notice("restored", text("restored"), { kind: "good", seconds: 12 });
      this.changed();
    } else {
      local.clear();
      this.show(server.rev ? "saved" : "idle");
    }
  }

  put(value) {
    if (this.editor.value === value) return;
    this.editor.value = value;
    this.editor.dispatchEvent(new CustomEvent("replaced"));
  }

  // What a save, a pause or a submit carries: the operation under way, or a new one with the text as it is.
  draft(source, more = {}) {
    this.operation ??= { op_id: newId(), base_rev: this.rev, text: this.editor.value, source, ...more };
    return { ...this.operation, client_active_ms: Math.round(this.activeMs()) };
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
    while (this.sending) await this.sending;
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
        if (attempt > 1) announce(text("online"));
        this.answered(answer);
        return answer;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        if (attempt === 1) announce(text("offline"));
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
      this.keep();
      this.show(this.isDirty ? "unsaved" : "saved");
    } else if (status === 413) {
      this.operation = null;
      this.tooLong();
    } else {
      this.refuse(status === 401 || status === 403 ? "login" : (body.code ?? String(status)), body);
    }
  }

  // Only a lost login keeps the operation: it is sent again afterwards. Every other refusal has stored the text.
  refuse(code, body) {
    clearTimeout(this.timer);
    this.state = code === "login" ? "blocked" : "stopped";
    if (code !== "login") this.operation = null;
    this.editor.readOnly = code !== "login";
    if (code !== "tab_lost") this.keep(); // the copy in this browser is the other tab's now
    this.onRefused(code, body);
  }

  tooLong() {
    this.keep();
    this.show("problem", text("too-long"));
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
    const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
    state.dataset.kind = kind === "offline" ? "problem" : kind;
    if (kind !== "idle") state.textContent = message ?? text(kind, { time });
  }
}
