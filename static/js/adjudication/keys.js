// Deciding and reviewing by keys: a control with data-key is pressed, or focused where it takes text (Escape leaves it);
// j and k, or arrows, move along a queue, where Enter opens the item in focus, as everywhere.
import { isComposing, isTyping, keyOf, targetOf } from "../keys.js";

const OFF = "adjudication:keys-off";
const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
const form = document.querySelector("[data-decide]");
const keysOn = document.querySelector("[data-keys-on]");
const links = [...document.querySelectorAll("[data-item]")];

function isOn() {
  try { return !localStorage.getItem(OFF); } catch { return keysOn?.checked ?? true; }
}
function remember() {
  try { if (keysOn.checked) localStorage.removeItem(OFF); else localStorage.setItem(OFF, "1"); } catch { /* for this page only */ }
}
function draw() {
  const isAlone = Boolean(form.querySelector("[data-alone]:checked"));
  for (const input of form.querySelectorAll("[data-more]")) {
    input.disabled = isAlone;
    if (isAlone) input.checked = false;
  }
}
function move(step) {
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + step))].focus();
}

if (keysOn) {
  keysOn.checked = isOn();
  keysOn.addEventListener("change", remember);
}
if (form) {
  form.addEventListener("change", draw);
  draw();
}
document.addEventListener("keydown", (event) => {
  const key = keyOf(event), target = targetOf(event);
  if (key === "Escape" && isTyping(target) && !isComposing(event)) target.blur();
  if (!isOn() || event.ctrlKey || event.metaKey || event.altKey || isTyping(target)) return;
  if (STEPS[key] && links.length && !target.closest("input, summary")) {
    move(STEPS[key]);
    event.preventDefault();
    return;
  }
  const control = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!control || control.disabled || event.repeat) return;
  if (key === "Enter" && target.closest("a, button, summary")) return;
  if (key === "ArrowRight" && target.closest("[type=radio]")) return;
  if (control.matches("textarea, [type=text]")) control.focus();
  else control.click();
  event.preventDefault();
});
