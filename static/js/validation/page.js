// A pair in the browser: the answer, the passage and their keys; what all label work does is in the shell.
import { startShell } from "../labelling/shell.js";
import { Snippet } from "./snippet.js";

const ANSWERS = { y: "yes", 0: "neutral", n: "no" };

export function start(root) {
  const shell = startShell(root, { selector: "[data-validation]", restart: start, answered, keys });
  const { config, find, text, announce, on, outbox, nudge, leave, prefetch } = shell;
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
    if (!("answer" in body) || outbox.acts.length) return; // what is still on its way is newer
    set(body.answer);
    snippet.set(body.snippet);
    form.elements.unsure.checked = body.is_unsure;
    draw();
  }
  function mark() {
    const place = snippet.selected();
    if (!place) { announce(text("nothing-selected")); nudge(find("response")); return; }
    snippet.set(place);
    getSelection().removeAllRanges();
    announce(text("marked"));
    if (value()) store(); else { draw(); nudge(first); }
  }
  function unmark() {
    snippet.set(null);
    announce(text("unmarked"));
    if (value()) store(); else draw();
  }
  function next() {
    if (value() || !config.is_open) { leave(); return; }
    announce(text("unanswered"));
    nudge(first);
  }
  function keys(key) {
    if (key === "Enter") return next;
    if (!config.is_open) return undefined;
    if (ANSWERS[key]) return () => { set(ANSWERS[key]); store(); };
    if (key === "x") return () => { form.elements.unsure.checked = !form.elements.unsure.checked; store(); };
    return { m: mark, M: unmark }[key];
  }

  on(form, "submit", (event) => { event.preventDefault(); store(); });
  on(form, "change", store);
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
