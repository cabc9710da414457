// Keys of a page of label work, the guidelines that list them, and two choices of a person: whether single keys do
// anything, and whether a complete answer leads on by itself.
import { isComposing, isOtherScript, isTyping, keyOf as keyOfPress, targetOf } from "../keys.js";
import { radioIn } from "../place.js";

// `keyOf(key, event)` gives what a usual key does, if anything; `aside` has the open boxes, which have keys of their own.
export function startKeyboard(root, { config, find, text, say, on, aside, keyOf, usual, prefer }) {
  const guide = find("guide"), keysOn = find("keys-on"), auto = find("auto");
  const showKeys = () => root.classList.toggle("keys-off", !keysOn.checked);
  keysOn.checked = prefer.get("has_keys");
  showKeys();
  on(keysOn, "change", () => { prefer.set("has_keys", keysOn.checked); showKeys(); });
  if (auto) {
    auto.checked = prefer.get("goes_on");
    on(auto, "change", () => {
      prefer.set("has_been_offered", true);
      prefer.set("goes_on", auto.checked);
      say(text(auto.checked ? "auto-on" : "auto-off"));
    });
  }

  const toggleGuide = (open = !guide.open) => { if (open) guide.show(); else guide.close(); };
  on(find("open-guide"), "click", (event) => { event.preventDefault(); aside.close(); toggleGuide(); });
  on(find("close-guide"), "click", () => toggleGuide(false));

  // Round by one key: from the answer to the text, or the summary and then its documents, and back
  const asking = find("asking"), reading = find("reading"), sides = [asking, find("rated"), reading].filter(Boolean);
  const stood = new Map(); // where the page was scrolled to as one of them was left
  function changeSides() {
    const at = sides.findIndex((side) => side.contains(document.activeElement)), side = sides[(at + 1) % sides.length];
    stood.set(sides[at], scrollY);
    if (side === asking) {
      unfold();
      const box = [...asking.querySelectorAll(".is-current")].at(-1) ?? asking; // a row below the insights comes after them
      (radioIn(box) ?? box).focus();
      return;
    }
    side.focus({ preventScroll: true });
    const { top, bottom } = side.getBoundingClientRect();
    if (stood.has(side) && (top > innerHeight / 2 || bottom < innerHeight / 2)) scrollTo(0, stood.get(side));
    side.scrollIntoView({ block: "nearest" });
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
    const number = root.querySelector(".jump [name=n]");
    if (!number) return; // a trial is short
    find("all").open = true;
    number.select();
  }
  const common = { "?": () => toggleGuide(), J: jump, F6: changeSides };

  on(document, "keydown", (event) => {
    const key = keyOfPress(event, config.keys), target = targetOf(event);
    if (isTyping(target) && isComposing(event)) return;
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
    const meant = usual(key);
    const act = aside.has(target) ? aside.choose(key, target) : common[meant] ?? keyOf(meant, event);
    if (!act && isOtherScript(event)) say(text("other-script"));
    if (!act || (key === "Enter" && target.closest("a, button, summary"))) return;
    event.preventDefault();
    // Enter leads on after a key that answers, also where a link among the texts was clicked before.
    if (key.length === 1 && !asking.contains(target)) target.closest("a, button")?.blur();
    act();
  });
}
