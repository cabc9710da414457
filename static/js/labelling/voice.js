// What the page says to a person: to everybody at the top, to screen readers too, or beside the control it is about.
import { reveal } from "../place.js";

const LASTS_MS = 7000;

export function startVoice(root, signal) {
  const find = (name) => root.querySelector(`[data-${name}]`);
  let timer;
  signal.addEventListener("abort", () => clearTimeout(timer));

  const text = (name, values = {}) => root.querySelector(`[data-text="${name}"]`).textContent.trim().replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const announce = (message) => { find("announce").textContent = message; };
  function hush(what = ".reason") {
    clearTimeout(timer);
    find("message").hidden = true;
    for (const each of root.querySelectorAll(what)) each.remove();
  }
  function say(message) {
    hush(".reason:not(.is-refusal)");
    announce(message);
    find("message").textContent = message;
    find("message").hidden = !message;
    timer = setTimeout(() => { find("message").hidden = true; }, LASTS_MS);
  }
  // Say why something is not done, inside `box`, and show which control is meant. What the server refused stays there
  // whatever else is said, until something is done about it.
  function refuse(box, message, { byServer = false } = {}) {
    hush();
    announce(message);
    const className = byServer ? "reason is-refusal" : "reason";
    const reason = Object.assign(document.createElement("strong"), { className, textContent: message });
    box.append(reason);
    reveal(reason);
    box.classList.add("is-nudged");
    setTimeout(() => box.classList.remove("is-nudged"), 600);
  }
  return { text, announce, say, refuse, hush };
}
