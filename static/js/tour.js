// A tour of the page: steps that point at its controls, one after the other. It is offered once to each person for
// each kind of work, as this browser remembers it, and can be started from the guidelines at any time. A page that is
// there only for its tour starts it by itself, and is left where it ends.
const find = (name) => document.querySelector(`[data-tour-${name}]`);
const config = () => JSON.parse(document.querySelector("[data-config]").dataset.config);
const key = () => `tour:${config().kind ?? "writing"}:${config().person}`;
let steps = [], at = 0, opener = null;

function isSeen() {
  try { return Boolean(localStorage.getItem(key())); } catch { return true; }
}
function remember() {
  find("offer")?.setAttribute("hidden", "");
  if (document.querySelector(".preview-banner")) return; // which keeps nothing
  try { localStorage.setItem(key(), "1"); } catch { /* it is offered again */ }
}
const isShown = (element) => element?.checkVisibility() && element.getClientRects().length > 0;

function begin(from) {
  opener = from;
  for (const open of document.querySelectorAll("dialog[open]:not([data-tour-box])")) open.close();
  steps = [...document.querySelectorAll("[data-tour-step]")]
    .map((each) => ({ target: document.querySelector(each.dataset.tourStep), words: each.textContent.trim() }))
    .filter(({ target }) => isShown(target));
  if (!steps.length) return;
  const box = find("box");
  box.addEventListener("keydown", onKey);
  box.addEventListener("close", end, { once: true });
  box.showModal();
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
// A frame around the control, and the words below it, or above, or wherever they fit.
function place(target) {
  const { top, left, width, height } = target.getBoundingClientRect(), gap = 6;
  const bottom = Math.min(innerHeight, top + height), from = Math.max(0, top);
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
  remember();
  const { leads } = find("box")?.dataset ?? {};
  if (leads) location.replace(leads);
  else if (opener?.isConnected && isShown(opener)) opener.focus();
}

document.addEventListener("click", ({ target }) => {
  const act = target.closest("[data-tour-start], [data-tour-later], [data-tour-next], [data-tour-back], [data-tour-end]");
  if (!act) return;
  if (act.matches("[data-tour-start]")) begin(act);
  else if (act.matches("[data-tour-later]")) remember();
  else if (act.matches("[data-tour-end]")) find("box").close();
  else show(at + (act.matches("[data-tour-next]") ? 1 : -1));
});
addEventListener("resize", () => { if (find("box")?.open) place(steps[at].target); });

// Pages of label work are put in each other's place, so the offer is looked for again whenever that happens.
function offer() {
  const box = find("offer");
  if (box) box.hidden = isSeen();
}
offer();
new MutationObserver(offer).observe(document.querySelector("main"), { childList: true });
if (find("box")?.dataset.leads) begin(null);
