// The bar and what opens from it: the clock, the guide, the submit dialog, and the questions that a save can raise.
import { Unreachable, button, call, clearNotice, config, events, find, local, newId, notice, onAnswer, release, tabId, text } from "./wire.js";

const FLUSH_BEFORE_MS = 2500;
const GAP_MS = 120_000;
const WARNINGS = [[600_000, "warn-10"], [120_000, "warn-2"]];

// Shown from the difference to the server's remainder, never counted down, set right by every answer.
export class Clock {
  // `onMark` just before a mark or the end, `onEnd` at the end, `onState` when the server says it is not running,
  // `onLapse` when the session has paused itself as nothing was heard of the server, and (false) when it runs after all.
  constructor({ onMark, onEnd, onState, onLapse }) {
    Object.assign(this, { onMark, onEnd, onState, onLapse, hasLapsed: false });
    this.face = find("clock");
    this.box = this.face.parentElement;
    this.warned = new Set(WARNINGS.filter(([ms]) => config.remaining_ms <= ms).map(([, name]) => name));
    this.limitMs = config.limit_ms;
    this.set(config);
    onAnswer((status) => this.set(status));
    this.offerHiding();
    this.noteAbsence();
    setInterval(() => this.tick(), 500);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.tick(); });
  }

  get remainingMs() { return Math.max(0, this.endsAt - Math.min(Date.now(), this.lapsesAt)); }
  get activeMs() { return Math.max(0, this.limitMs - this.remainingMs); }

  // While another tab writes: nothing is shown, no warning given, nothing saved; the answers are still listened to.
  rest(isResting) {
    this.isResting = isResting;
    if (isResting) this.face.textContent = "–:––:––";
    else if (this.state === "running") this.show();
  }

  set(status) {
    this.state = status.state;
    this.limitMs = status.limit_ms ?? this.limitMs;
    this.endsAt = Date.now() + status.remaining_ms;
    this.lapsesAt = Date.now() + (status.pauses_in_ms ?? Infinity);
    this.nextMarkMs = status.next_mark_ms;
    if (status.remaining_ms > 0) this.hasEnded = false;
    if (status.state !== "running") this.onState?.(status);
    else {
      this.lapse(false);
      if (!this.isResting) this.show();
    }
  }

  lapse(hasLapsed) {
    if (this.hasLapsed === hasLapsed) return;
    this.hasLapsed = hasLapsed;
    this.onLapse(hasLapsed);
  }

  // The server is asked first: the session may be paused elsewhere.
  async warn(ms, name) {
    this.warned.add(name);
    await call("state").catch(() => {});
    if (this.state === "running" && !this.isResting && this.remainingMs <= ms) notice("time", text(name), { seconds: 20 });
  }

  tick() {
    if (this.state !== "running" || this.isResting) return;
    this.show();
    if (Date.now() >= this.lapsesAt) { this.lapse(true); return; }
    const left = this.remainingMs;
    const toMark = Math.min(left, this.nextMarkMs === null ? Infinity : this.nextMarkMs - this.activeMs);
    if (toMark > 0 && toMark < FLUSH_BEFORE_MS) this.onMark();
    for (const [ms, name] of WARNINGS) {
      if (left > ms) this.warned.delete(name);
      else if (left > 0 && !this.warned.has(name)) this.warn(ms, name);
    }
    if (left === 0 && !this.hasEnded) {
      this.hasEnded = true;
      this.onEnd();
    }
  }

  show() {
    const shown = clockFace(this.remainingMs);
    if (this.face.textContent !== shown) this.face.textContent = shown;
    const [less, little] = WARNINGS.map(([ms], place) => Math.min(ms, this.limitMs / (6 * (place + 1))));
    this.box.dataset.left = this.remainingMs < little ? "little" : this.remainingMs < less ? "less" : "";
  }

  offerHiding() {
    const toggle = find("toggle-clock");
    const apply = (hidden) => {
      this.box.classList.toggle("is-hidden", hidden);
      toggle.textContent = text(hidden ? "show-clock" : "hide-clock");
    };
    let hidden = false;
    try { hidden = localStorage.getItem("clock-hidden") === "1"; } catch { /* private mode */ }
    apply(hidden);
    toggle.addEventListener("click", () => {
      hidden = !hidden;
      apply(hidden);
      try { localStorage.setItem("clock-hidden", hidden ? "1" : "0"); } catch { /* private mode */ }
    });
  }

  // Told of on the start page: how long the page was hidden or out of focus, and stretches without any sign of work.
  noteAbsence() {
    const since = {};
    const left = (kind) => { since[kind] ??= Date.now(); };
    const back = (kind) => {
      if (since[kind] === undefined) return;
      events.log(kind, { ms: Date.now() - since[kind] });
      delete since[kind];
    };
    document.addEventListener("visibilitychange", () => (document.hidden ? left : back)("hidden"));
    addEventListener("blur", () => left("blur"));
    addEventListener("focus", () => back("blur"));
    let lastSign = Date.now();
    const sign = () => {
      const now = Date.now();
      if (now - lastSign > GAP_MS) events.log("gap", { ms: now - lastSign, by: "browser" });
      lastSign = now;
    };
    for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
      document.addEventListener(kind, sign, { passive: true, capture: true });
    }
  }
}

export function clockFace(ms) {
  const seconds = Math.ceil(ms / 1000);
  const two = (n) => String(n).padStart(2, "0");
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

const keepOpen = (event) => event.preventDefault();

// What there is to check comes with a way to each line. The safe button has the focus, so that a key held down or
// pressed twice ends nothing.
export function startSubmit({ facts, problems, select, submit, cancel, focus }) {
  const dialog = find("submit-dialog"), problem = find("submit-error"), yes = find("submit-yes"), checks = find("submit-checks");
  let opened = 0; // how often: an attempt that was broken off does nothing to the dialog that was opened after it
  const close = () => { cancel(); dialog.close(); };
  const item = ({ problem: each, line, reason, isNote }) => {
    const made = document.createElement("li");
    made.classList.toggle("is-note", isNote);
    made.append(button(text("go-to-line", { line }), () => { close(); select(each); }), ` ${reason}`);
    return made;
  };
  find("submit").addEventListener("click", () => {
    for (const [name, value] of Object.entries(facts())) dialog.querySelector(`[data-fact="${name}"]`).textContent = value;
    const found = problems();
    checks.hidden = !found.length;
    checks.querySelector("ul").replaceChildren(...found.map(item));
    problem.hidden = true;
    opened += 1;
    yes.disabled = false;
    dialog.showModal();
    find("submit-no").focus();
  });
  find("submit-no").addEventListener("click", () => { close(); focus(); });
  dialog.addEventListener("cancel", cancel);
  yes.addEventListener("click", async () => {
    const mine = opened;
    yes.disabled = true;
    await submit(() => { if (mine === opened) { problem.textContent = text("submit-waiting"); problem.hidden = false; } });
    if (mine !== opened) return;
    yes.disabled = false;
    if (dialog.open) dialog.close();
  });
}

export function askToLogIn(autosave, claim) {
  const link = Object.assign(document.createElement("a"), { href: `${config.urls.login}?next=${config.urls.home}`, target: "_blank", rel: "noopener", textContent: text("login-link") });
  const retry = button(text("login-retry"), async () => {
    clearNotice("login");
    if (autosave.state !== "blocked" || autosave.isOver) { await claim(); return; }
    autosave.state = "open";
    await autosave.flush();
  });
  autosave.show("problem", text("state-login"));
  notice("login", text("login"), { kind: "bad", actions: [link, retry] });
}

// Two texts: the person picks, by naming the hash of the server's text that goes; the other one stays stored.
export function askWhichText({ autosave, body, onRefused }) {
  const dialog = find("conflict"), problem = find("conflict-error"), editor = autosave.editor;
  const say = (message) => { problem.textContent = message; problem.hidden = false; };
  const { server_text, server_sha256 } = body;
  find("theirs").value = server_text;
  find("ours").value = editor.value;
  problem.hidden = true;
  const resolve = async (chosen) => {
    const { status, body: answer } = await call("resolve", { tab_id: tabId, op_id: newId(), text: chosen, replaces_sha256: server_sha256 });
    if (status === 200) {
      dialog.close();
      local.clear();
      release(autosave.compared);
      autosave.adopt({ rev: answer.rev, text: chosen }, null);
      editor.focus();
    } else if (answer.code === "conflict") askWhichText({ autosave, body: answer, onRefused });
    else if (status === 401 || status === 403) say(text("login"));
    else { dialog.close(); onRefused(answer.code, answer); }
  };
  dialog.oncancel = keepOpen;
  dialog.onclick = ({ target }) => {
    const { pick } = target.dataset;
    if (pick) resolve(pick === "server" ? server_text : find("ours").value).catch((error) => {
      if (!(error instanceof Unreachable)) throw error;
      say(text("offline"));
    });
  };
  if (!dialog.open) dialog.showModal();
}

export function askIfEmpty(autosave, { server_text }) {
  const dialog = find("empty");
  const reopen = () => {
    dialog.close();
    autosave.state = "open";
    autosave.editor.readOnly = false;
    autosave.editor.focus();
  };
  dialog.oncancel = keepOpen;
  find("empty-back").onclick = () => { reopen(); autosave.put(server_text); autosave.changed(); };
  find("empty-yes").onclick = () => { reopen(); autosave.flush({ more: { confirm_empty: true } }); };
  dialog.showModal();
}

// Beside the work: it covers no control of the editor, and closing it gives the focus back.
export function startGuide() {
  const guide = find("guide"), opener = find("open");
  let before = null; // where somebody was
  const toggle = (open = !guide.open) => {
    if (open === guide.open) return;
    const at = document.activeElement, isInside = guide.contains(at);
    if (open) before = at;
    if (open) guide.show(); else guide.close();
    opener.setAttribute("aria-expanded", String(open));
    if (isInside) (before === document.body ? opener : before).focus({ preventScroll: true });
  };
  opener.addEventListener("click", () => toggle());
  guide.addEventListener("click", (event) => { if (event.target.closest("[data-close]")) toggle(false); });
  return { toggle, get isOpen() { return guide.open; } };
}
