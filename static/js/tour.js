// A tour of the page: steps that point at its controls, one after the other; it is started by a button. A page that is
// there only for its tour starts it by itself, and is left where it ends. A "tour" event tells that it opens or closes.
import { targetOf } from "./keys.js";
import { frameOf } from "./reading/places.js";

const find = (name) => document.querySelector(`[data-tour-${name}]`);
const byTouch = () => matchMedia("(hover: none)").matches;
const isShown = (element) => element?.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
const tell = (isOpen) => document.dispatchEvent(new CustomEvent("tour", { detail: { isOpen } }));
let steps = [], at = 0, opener = null, wasAt = 0;

// What a step points at, or else what it names instead, and its words: without those on keys where there are none.
function stepOf(each) {
  const words = each.cloneNode(true);
  if (byTouch()) for (const part of words.querySelectorAll(".by-key")) part.remove();
  const targets = [each.dataset.tourStep, each.dataset.tourElse].map((selector) => selector && document.querySelector(selector));
  return { target: targets.find(isShown), words: words.textContent.trim() };
}
function begin(from) {
  opener = from;
  wasAt = scrollY;
  for (const open of document.querySelectorAll("dialog[open]:not([data-tour-box])")) open.close();
  steps = [...document.querySelectorAll("[data-tour-step]")].map(stepOf).filter(({ target }) => target);
  if (!steps.length) return;
  const box = find("box");
  box.addEventListener("keydown", onKey);
  box.addEventListener("close", end, { once: true });
  box.showModal();
  tell(true);
  show(0);
}
function show(wanted) {
  if (wanted < 0) return;
  if (wanted >= steps.length) { find("box").close(); return; }
  at = wanted;
  const { target, words } = steps[at];
  target.scrollIntoView({ block: "nearest", inline: "nearest" });
  find("count").textContent = `${at + 1} / ${steps.length}`;
  find("words").textContent = words;
  find("back").disabled = at === 0;
  find("next").textContent = at + 1 === steps.length ? find("next").dataset.done : find("next").dataset.more;
  place(target);
  find("next").focus();
}
// A frame around the control, as far as it is on the screen and no bar lies over it, and the words below it, or above, or
// wherever they fit.
function place(target) {
  const { top, left, width, height } = target.getBoundingClientRect(), gap = 6;
  const room = target.closest("[data-sticks]") ? { top: 0, height: innerHeight } : frameOf(target);
  const from = Math.max(0, room.top, top), bottom = Math.max(from, Math.min(innerHeight, room.top + room.height, top + height));
  Object.assign(find("frame").style, { top: `${from - gap}px`, left: `${left - gap}px`, width: `${width + 2 * gap}px`, height: `${bottom - from + 2 * gap}px` });
  const card = find("card"), { offsetWidth: wide, offsetHeight: high } = card;
  const y = bottom + high + 3 * gap < innerHeight ? bottom + 2 * gap : from - high - 3 * gap > 0 ? from - high - 2 * gap : innerHeight - high - 2 * gap;
  const x = Math.min(Math.max(gap, left), innerWidth - wide - gap);
  Object.assign(card.style, { top: `${Math.max(gap, y)}px`, left: `${Math.max(gap, x)}px` });
}
// No key reaches the page while the tour is on: what it does there would be an answer.
function onKey(event) {
  event.stopPropagation();
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  show(at + step);
}
function end() {
  find("box")?.removeEventListener("keydown", onKey);
  tell(false);
  scrollTo(scrollX, wasAt);
  const { leads } = find("box")?.dataset ?? {};
  if (leads) location.replace(leads);
  else if (opener?.isConnected && isShown(opener)) opener.focus();
}

document.addEventListener("click", (event) => {
  const act = targetOf(event).closest("[data-tour-start], [data-tour-next], [data-tour-back], [data-tour-end]");
  if (!act) return;
  if (act.matches("[data-tour-start]")) begin(act);
  else if (act.matches("[data-tour-end]")) find("box").close();
  else show(at + (act.matches("[data-tour-next]") ? 1 : -1));
});
addEventListener("resize", () => { if (find("box")?.open) place(steps[at].target); });
if (find("box")?.dataset.leads) begin(null);
