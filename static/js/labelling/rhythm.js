// The quiet line below the bar, and what the page suggests now and then: to go on by itself, and a break.
import { write } from "../place.js";
import { fetchPage } from "../talk.js";
import { mayOffer, offerTour } from "./offers.js";

const EVERY_MS = 30_000;
const BREAK_AFTER_MS = 50 * 60_000, BREAK_IS_MS = 5 * 60_000, NOTED_EVERY_MS = 5000;
const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "scroll"];
let newest = null, askedAt = 0, nLeft = null; // these outlive the item on the screen

// `isEarly()` tells that going on by itself is not to be offered yet, `isNew()` that somebody is new to this work.
export function startRhythm(root, { config, find, text, on, signal, prefer, isEarly, isNew }) {
  const { urls, person } = config;
  const draw = () => { const place = document.querySelector("[data-left]"); if (place && nLeft !== null) write(place, text("left", { n: nLeft })); };
  function put() {
    const line = document.querySelector("[data-rhythm]");
    if (line && newest) line.replaceWith(newest.cloneNode(true));
    draw();
  }
  async function refresh({ isForced = false } = {}) {
    if (!urls.rhythm || !prefer.get("shows_pace") || (!isForced && Date.now() - askedAt < EVERY_MS)) return;
    askedAt = Date.now();
    const page = await fetchPage(urls.rhythm);
    const line = page?.html && new DOMParser().parseFromString(page.html, "text/html").querySelector("[data-rhythm]");
    if (!line || line.hidden) return;
    newest = line;
    put();
  }
  if (newest) put(); else askedAt ||= Date.now(); // the page that was loaded says how it stands

  // Shown or not, by the button on the line or the box in the menu
  const box = find("pace"), line = () => root.querySelector("[data-rhythm]");
  async function show(isShown) {
    if (box) box.checked = isShown;
    if (line()) line().hidden = !isShown;
    await prefer.set("shows_pace", isShown);
    if (isShown) refresh({ isForced: true });
  }
  if (line()) line().hidden = !prefer.get("shows_pace");
  if (box) {
    box.checked = prefer.get("shows_pace");
    on(box, "change", () => show(box.checked));
  }
  on(root, "submit", (event) => {
    if (!event.target.matches("[data-hide-rhythm]")) return;
    event.preventDefault();
    show(false);
  });

  // A suggestion stays until it is answered; nothing waits for it. The focus goes back to where it came from.
  let before = null;
  on(root, "focusin", ({ target, relatedTarget }) => { if (target.closest(".nudge") && !relatedTarget?.closest(".nudge")) before = relatedTarget; });
  on(root, "click", ({ target }) => { if (target.closest(".nudge[hidden]")) before?.focus({ preventScroll: true }); });
  const nudge = (name) => root.querySelector(`[data-nudge="${name}"]`);
  function suggest(name, answers) {
    const place = nudge(name);
    place.hidden = false;
    for (const [answer, act] of Object.entries(answers)) on(place.querySelector(`[data-${answer}]`), "click", () => { place.hidden = true; act(); });
  }
  const auto = find("auto");
  if (!config.has_feedback && auto && !prefer.get("goes_on") && !prefer.get("has_been_offered") && !isEarly() && mayOffer("auto")) {
    suggest("auto", {
      yes: () => auto.click(),
      no: () => prefer.set("has_been_offered", true),
    });
    on(auto, "change", () => { nudge("auto").hidden = true; });
  }
  offerTour({ config, find, on, isNew: isNew() });
  function left(n) {
    nLeft = n;
    draw();
    if (!n) nudge("auto").hidden = true; // there is nothing to go on to
  }
  if (person === "preview") return { refresh, left };
  watchBreaks({ person, signal, isWanted: () => config.is_open && prefer.get("suggests_breaks") }, (begin) => suggest("break", {
    no: begin, never: () => { begin(); prefer.set("suggests_breaks", false); },
  }), () => { nudge("break").hidden = true; });
  return { refresh, left };
}

// How long somebody has been at work in this browser without a break, on whatever items. `due(begin)` is called after
// 50 minutes, where `begin` starts anew; `rested()` when somebody comes back from a break.
function watchBreaks({ person, signal, isWanted }, due, rested) {
  const key = `at-work:${person}`;
  let isDue = false, notedAt = 0;
  const read = () => { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } };
  const keep = (since, last) => { try { localStorage.setItem(key, JSON.stringify([since, last])); } catch { /* no breaks are suggested */ } };
  function sign() {
    const now = Date.now();
    if (now - notedAt < NOTED_EVERY_MS) return;
    notedAt = now;
    let [since, last] = read() ?? [now, now];
    if (now - last > BREAK_IS_MS) {
      since = now;
      if (isDue) rested();
      isDue = false;
    }
    keep(since, now);
    if (isDue || now - since < BREAK_AFTER_MS || !isWanted()) return;
    isDue = true;
    due(() => { isDue = false; keep(Date.now(), Date.now()); });
  }
  for (const type of SIGNS) document.addEventListener(type, sign, { signal, passive: true, capture: true });
  sign();
}
