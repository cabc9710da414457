// The queue by keys: j and k, or arrows, move along the items; Enter opens the one in focus, as everywhere.
const OFF = "adjudication:keys-off";
const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
const links = [...document.querySelectorAll("[data-item]")];

function isOff() {
  try { return Boolean(localStorage.getItem(OFF)); } catch { return false; }
}
document.addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  if (!step || !links.length || isOff() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, summary")) return;
  const at = links.indexOf(document.activeElement);
  const next = at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + step));
  links[next].focus();
  event.preventDefault();
});
