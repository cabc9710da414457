// Keys of the review of syntheses: a control with data-key is pressed; a fold opens and its first field has the focus.
// What is inside a fold that is closed does nothing, so that digits reject only after x; before, they are verdicts.
import { isComposing, isTyping, keyOf, targetOf } from "../keys.js";

document.addEventListener("keydown", (event) => {
  const key = keyOf(event), target = targetOf(event);
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (isTyping(target)) {
    if (key === "Escape" && !isComposing(event)) target.blur();
    return;
  }
  if (key === "Escape") {
    for (const fold of document.querySelectorAll(".review-acts details[open]")) fold.open = false;
    return;
  }
  const within = (control) => !control.matches("summary") && control.closest(".review-acts details");
  const controls = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)];
  const control = controls.find((each) => within(each)?.open) ?? controls.find((each) => !within(each));
  if (!control) return;
  const fold = control.closest(".review-acts details");
  event.preventDefault();
  control.click();
  if (control.matches("summary") && fold.open) (fold.querySelector("textarea, select, button") ?? control).focus();
});

// On a phone the text comes first: the list is folded.
if (matchMedia("(max-width: 63.9rem)").matches) document.querySelector(".review-list")?.removeAttribute("open");
