// The clock: shown from the difference to the server's remainder, never counted down, set right by every answer.
import { config, events, find, notice, onAnswer, text } from "./wire.js";

const FLUSH_BEFORE_MS = 2500;
const GAP_MS = 120_000;
const WARNINGS = [[600_000, "warn-10"], [120_000, "warn-2"]];

export class Clock {
  // `onMark` just before a mark or the end, `onEnd` at the end, `onState` when the server says it is not running.
  constructor({ onMark, onEnd, onState }) {
    Object.assign(this, { onMark, onEnd, onState });
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

  get remainingMs() { return Math.max(0, this.endsAt - Date.now()); }
  get activeMs() { return Math.max(0, this.limitMs - this.remainingMs); }

  set(status) {
    this.state = status.state;
    this.limitMs = status.limit_ms ?? this.limitMs;
    this.endsAt = Date.now() + status.remaining_ms;
    this.nextMarkMs = status.next_mark_ms;
    if (status.remaining_ms > 0) this.hasEnded = false;
    if (status.state !== "running") this.onState?.(status);
    else this.show();
  }

  tick() {
    if (this.state !== "running") return;
    this.show();
    const left = this.remainingMs;
    const toMark = Math.min(left, this.nextMarkMs === null ? Infinity : this.nextMarkMs - this.activeMs);
    if (toMark > 0 && toMark < FLUSH_BEFORE_MS) this.onMark();
    for (const [ms, name] of WARNINGS) {
      if (left > ms) this.warned.delete(name);
      else if (left > 0 && !this.warned.has(name)) {
        this.warned.add(name);
        notice("time", text(name), { seconds: 20 });
      }
    }
    if (left === 0 && !this.hasEnded) {
      this.hasEnded = true;
      this.onEnd();
    }
  }

  show() {
    const shown = clockFace(this.remainingMs);
    if (this.face.textContent !== shown) this.face.textContent = shown;
    this.box.classList.toggle("is-late", this.remainingMs < 600_000);
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
