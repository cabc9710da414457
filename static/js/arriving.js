// Figures that arrive wait while somebody goes elsewhere: a reload cancels a navigation that has begun, and a swap
// takes away the link under a press. Their place asks again, so nothing but this one answer is dropped.
import { watchPress } from "./press.js";

const LEAVING_MS = 30_000; // a download looks like leaving, but its page stays
const STATE = ".result-state";
const answers = new Set();
let leftAt = -Infinity;
const isPressed = watchPress((target, type, act) => target.addEventListener(type, act));

const leave = () => { leftAt = performance.now(); };
const stay = () => { leftAt = -Infinity; };

// Only while figures are awaited: the listener would keep other pages out of the browser's memory for Back.
function watch() {
  const isAwaiting = document.querySelector(`${STATE}[hx-get]`) !== null;
  (isAwaiting ? addEventListener : removeEventListener)("beforeunload", leave);
}

addEventListener("pageshow", stay);
document.addEventListener("htmx:load", watch);
document.addEventListener("htmx:beforeSend", ({ detail, target }) => { if (!target.matches(STATE)) answers.add(detail.xhr); });
document.addEventListener("htmx:afterRequest", ({ detail }) => answers.delete(detail.xhr));
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const isLeaving = performance.now() - leftAt < LEAVING_MS;
  if (event.target.matches(STATE) && (isLeaving || isPressed() || answers.size > 0)) event.preventDefault();
});
watch();
