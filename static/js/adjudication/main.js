// Deciding a disagreement by keys: digits for coverage, letters for bullets, Enter to go on, s for the note (Escape leaves it), arrow to leave it open.
const root = document.querySelector("[data-dispute]");
const form = root.querySelector("[data-decide]");
const keysOn = root.querySelector("[data-keys-on]"), OFF = "adjudication:keys-off";
const LEVELS = { 1: "none", 2: "partial", 3: "full" };
const isTyping = (target) => target.closest("textarea, select, input:not([type=radio], [type=checkbox])");

const coverage = () => form.querySelector("[name=coverage]:checked")?.value ?? "";
function draw() {
  const isCovered = ["partial", "full"].includes(coverage());
  for (const input of form.querySelectorAll("[name=line]")) {
    input.disabled = coverage() === "none";
    if (!isCovered && coverage() === "none") input.checked = false;
  }
}
function act(key) {
  if (LEVELS[key]) { form.querySelector(`[name=coverage][value=${LEVELS[key]}]`).checked = true; draw(); return true; }
  const bullet = [...form.querySelectorAll("[name=line]")].find(({ dataset }) => dataset.key === key);
  if (bullet) { if (!bullet.disabled) bullet.checked = bullet.type === "radio" || !bullet.checked; return true; }
  if (key === "Enter") { form.requestSubmit(form.querySelector("button.primary")); return true; }
  if (key === "ArrowRight") { location.assign(root.querySelector("[data-next]").href); return true; }
  if (key === "s") { form.querySelector("#note").focus(); return true; }
  if (key === "?") { const guide = root.querySelector("[data-guide]"); if (guide) guide.open = !guide.open; return true; }
  return false;
}

try { keysOn.checked = !localStorage.getItem(OFF); } catch { /* always on */ }
keysOn.addEventListener("change", () => {
  try { if (keysOn.checked) localStorage.removeItem(OFF); else localStorage.setItem(OFF, "1"); } catch { /* for this page only */ }
});
form.addEventListener("change", draw);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && isTyping(event.target)) { event.target.blur(); return; }
  if (!keysOn.checked || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  if (event.key === "ArrowRight" && event.target.closest("[type=radio]")) return;
  if (act(event.key)) event.preventDefault();
});
draw();
