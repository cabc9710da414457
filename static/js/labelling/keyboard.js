// Keys of a page of label work, the guidelines that list them, and two choices of a person that this browser remembers:
// whether single keys do anything, and whether a complete answer leads on by itself.
import { isTyping } from "./gate.js";

// A checkbox whose state is kept under `key` where it differs from `usual`.
function remembered(box, key, usual, on) {
  try { box.checked = (localStorage.getItem(key) !== null) !== usual; } catch { box.checked = usual; }
  on(box, "change", () => {
    try { if (box.checked === usual) localStorage.removeItem(key); else localStorage.setItem(key, "1"); } catch { /* for this page only */ }
  });
  return box;
}

// `keyOf(key, event)` gives what a key does, if anything; `aside` has the open boxes, which have keys of their own.
export function startKeyboard(root, { config, find, text, say, on, aside, keyOf }) {
  const guide = find("guide"), keysOn = remembered(find("keys-on"), `${config.kind}:keys-off`, true, on);
  const showKeys = () => root.classList.toggle("keys-off", !keysOn.checked);
  showKeys();
  on(keysOn, "change", showKeys);
  const auto = find("auto") && remembered(find("auto"), `labels:auto:${config.person}`, false, on);
  if (auto) on(auto, "change", () => say(text(auto.checked ? "auto-on" : "auto-off")));

  const toggleGuide = (open = !guide.open) => { if (open) guide.show(); else guide.close(); };
  on(find("open-guide"), "click", (event) => { event.preventDefault(); aside.close(); toggleGuide(); });
  on(find("close-guide"), "click", () => toggleGuide(false));

  // Between the texts and the answer, by one key
  const asking = find("asking"), reading = find("reading");
  function changeSides() {
    const isAsking = asking.contains(document.activeElement);
    const box = isAsking ? reading : asking.querySelector(".is-current, [type=radio]:checked") ?? asking.querySelector("[type=radio]:not(:disabled)") ?? asking;
    if (!isAsking) unfold();
    box.focus();
  }
  // In small windows the answer can be folded away.
  const fold = find("fold");
  const unfold = (open = true) => { root.classList.toggle("is-folded", !open); fold.setAttribute("aria-expanded", String(open)); };
  if (matchMedia("(max-height: 20rem)").matches) { // such as 400 %: the text comes first
    unfold(false);
    (find("rated") ?? reading).scrollIntoView();
  }
  on(fold, "click", () => unfold(root.classList.contains("is-folded")));

  function jump() {
    find("all").open = true;
    root.querySelector(".jump [name=n]").select();
  }
  const common = { "?": () => toggleGuide(), J: jump, F6: changeSides };

  on(document, "keydown", (event) => {
    const { key, target } = event;
    if (key === "Escape") {
      if (isTyping(target) && target.type === "search") return;
      keyOf(key, event)?.();
      const box = aside.has(target);
      toggleGuide(false);
      aside.close();
      if (box) (box.contains(document.activeElement) || document.activeElement === document.body) && reading.focus({ preventScroll: true });
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (key !== "F6" && (!keysOn.checked || isTyping(target))) return;
    const act = aside.has(target) ? aside.choose(key, target) : common[key] ?? keyOf(key, event);
    if (!act || (key === "Enter" && target.closest("a, button, summary"))) return;
    event.preventDefault();
    act();
  });
  return { get isAuto() { return Boolean(auto?.checked); }, toggleAuto: () => auto?.click() };
}
