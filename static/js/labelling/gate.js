// Whether the page takes answers. It is shut from the act that leads away until the next item is painted, so that no
// key or click lands on an item that is not on the screen; what comes meanwhile is dropped, and the person is told.
import { isTyping, keyOf, targetOf } from "../keys.js";

const PASSES = new Set(["Tab", "Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "PageUp", "PageDown", "Home", "End"]);
const now = () => new Event("now").timeStamp; // the clock of events, which are compared with it
// Wait until what the page looks like now has been drawn, but not for long in a tab that nobody sees.
export const painted = () => Promise.race([
  new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))),
  new Promise((resolve) => setTimeout(resolve, 300)),
]);

// The second half of a double click on an answer, where another one has come to stand since the first.
export const DOUBLE_MS = 500;
const SAME_SPOT_PX = 24;
let before = null; // the click before: it outlives the item
function isEcho(event) {
  const { timeStamp: at, clientX: x, clientY: y } = event, answer = targetOf(event).closest("[data-asking] label");
  if (!event.detail) return false;
  const is = answer && before && answer !== before.answer && at - before.at < DOUBLE_MS && Math.hypot(x - before.x, y - before.y) < SAME_SPOT_PX;
  if (!is) before = answer && { at, x, y, answer };
  return is;
}

export class Gate {
  // `why` it is shut: "going" elsewhere, "undoing", "fresh" while a new item is not painted yet; "" while open. A key that
  // was pressed while it was shut may arrive after it opened: what held then, `lately`, holds for that key.
  constructor(root, { signal, usual, dropped, stay }) {
    Object.assign(this, { root, usual, dropped, stay, why: "", lately: "", openedAt: 0 });
    for (const type of ["keydown", "click", "submit"]) document.addEventListener(type, (event) => this.watch(event), { signal, capture: true });
  }

  shut(why) {
    this.why = this.lately = why;
    this.root.dataset.gate = why;
  }
  open() {
    this.why = "";
    this.openedAt = now();
    delete this.root.dataset.gate;
  }
  async openOncePainted() {
    this.shut("fresh");
    await painted();
    if (this.why === "fresh") this.open();
  }

  watch(event) {
    if (event.type === "click" && isEcho(event)) { event.preventDefault(); event.stopImmediatePropagation(); return; }
    if (!this.why && event.timeStamp >= this.openedAt) return;
    const target = targetOf(event);
    if (event.type === "keydown" ? this.lets(event) : !this.root.contains(target) || target.closest("[data-stay]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.key === "Escape" && this.why && this.why !== "fresh") this.stay();
    else if (event.type !== "submit" && !event.repeat) this.dropped(event.type === "keydown" ? keyOf(event) : "");
  }
  lets(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !event.key || PASSES.has(event.key) || /^F\d+$/.test(event.key)) return true;
    return this.lately === "undoing" && (this.usual(keyOf(event)) === "u" || Boolean(isTyping(targetOf(event))));
  }
}
