// What every page has: notices that can be dismissed, menus that close by Escape and by a click beside them.
import { isComposing, targetOf } from "./keys.js";

const openMenus = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("click", (event) => {
  const target = targetOf(event);
  target.closest("[data-dismiss]")?.closest(".message").remove();
  for (const menu of openMenus()) if (!menu.contains(target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || isComposing(event)) return;
  for (const menu of openMenus()) {
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
});
document.addEventListener("focusin", (event) => {
  for (const menu of openMenus()) if (!menu.contains(targetOf(event))) menu.open = false;
});
