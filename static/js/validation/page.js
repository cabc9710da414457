// A pair in the browser: the answer, the passage and their keys; what all label work does is in the shell.
import { startShell } from "../labelling/shell.js";
import { Snippet } from "./snippet.js";

const ANSWERS = { y: "yes", 0: "neutral", n: "no" };

export function start(root) {
  const shell = startShell(root, { selector: "[data-validation]", restart: start, answered, keys, next });
  const { config, find, text, say, on, refuse, isWaiting, leave, prefetch } = shell;
  const form = find("answer"), first = find("first");
  const snippet = new Snippet(find("response"), config.snippet);

  const value = () => form.querySelector("[name=answer]:checked")?.value ?? "";
  const set = (wanted) => { for (const input of form.querySelectorAll("[name=answer]")) input.checked = input.value === wanted; };

  function draw() {
    const isComplete = value() !== "", done = config.n_done_besides + isComplete;
    root.classList.toggle("is-complete", isComplete);
    find("progress").value = done;
    find("done").textContent = text("done", { n: done });
    if (find("unmark")) find("unmark").hidden = !snippet.place;
  }
  function store() {
    if (!config.is_open) return;
    draw();
    const fields = [["answer", value()]];
    if (snippet.place) fields.push(["start", String(snippet.place[0])], ["end", String(snippet.place[1])]);
    if (form.elements.unsure.checked) fields.push(["unsure", "1"]);
    if (config.guideline) fields.push(["guideline", String(config.guideline)]);
    shell.save(fields);
  }
  function answered(_, body) {
    if (isWaiting(config.urls.choice)) return; // what is still on its way is newer
    set(body.answer);
    snippet.set(body.snippet);
    form.elements.unsure.checked = body.is_unsure;
    draw();
  }
  function mark() {
    const place = snippet.selected();
    if (!place) { refuse(find("marking"), text("nothing-selected")); return; }
    snippet.set(place);
    getSelection().removeAllRanges();
    if (!value()) { draw(); refuse(first, text("marked-only")); return; }
    store();
    say(text("marked"));
  }
  function unmark() {
    snippet.set(null);
    if (value()) store(); else draw();
    say(text("unmarked"));
  }
  function doubt() {
    if (value()) { store(); return; }
    form.elements.unsure.checked = false;
    refuse(first, text("unsure-first"));
  }
  function next() {
    if (value() || !config.is_open) { leave(); return; }
    refuse(first, text("unanswered"));
  }
  function keys(key) {
    if (!config.is_open) return undefined;
    if (ANSWERS[key]) return () => { set(ANSWERS[key]); store(); };
    if (key === "x") return () => { form.elements.unsure.checked = !form.elements.unsure.checked; doubt(); };
    return { m: mark, M: unmark }[key];
  }

  on(form, "submit", (event) => { event.preventDefault(); store(); });
  on(form, "change", ({ target }) => { if (target.name === "unsure") doubt(); else store(); });
  if (find("marking")) {
    find("marking").hidden = false;
    // A press of the button must not take the selection away before it is read
    on(find("mark"), "mousedown", (event) => event.preventDefault());
    on(find("mark"), "click", mark);
    on(find("unmark"), "click", unmark);
  }
  draw();
  if (value()) prefetch();
}
