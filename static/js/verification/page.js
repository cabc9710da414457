// A key point in the browser: the two judgments and their keys; what all label work does is in the shell.
import { startShell } from "../labelling/shell.js";
import { startDocuments } from "./passages.js";

const GROUNDED = { y: "yes", n: "no" };
const KEYNESS = { 1: "agree", 2: "neutral", 3: "disagree" };

export function start(root) {
  const shell = startShell(root, { selector: "[data-verification]", restart: start, answered, keys, next });
  const { config, find, text, on, refuse, isWaiting, leave, prefetch } = shell;
  const form = find("answer"), first = find("first"), second = find("second");
  const documents = startDocuments(root, shell);

  const value = (name) => form.querySelector(`[name=${name}]:checked`)?.value ?? "";
  const set = (name, wanted) => { for (const input of form.querySelectorAll(`[name=${name}]`)) input.checked = input.value === wanted; };
  const isComplete = () => value("grounded") === "no" || (value("grounded") === "yes" && value("keyness") !== "");

  function draw() {
    const isYes = value("grounded") === "yes";
    if (!isYes) set("keyness", "");
    second.disabled = !config.is_open || !isYes;
    root.classList.toggle("is-complete", isComplete());
    const done = config.n_done_besides + isComplete();
    find("progress").value = done;
    find("done").textContent = text("done", { n: done });
  }
  function store() {
    if (!config.is_open) return;
    draw();
    const fields = [["grounded", value("grounded")], ["keyness", value("keyness")]];
    if (form.elements.unsure.checked) fields.push(["unsure", "1"]);
    if (config.guideline) fields.push(["guideline", String(config.guideline)]);
    shell.save(fields);
  }
  function answered(_, body) {
    if (isWaiting(config.urls.choice)) return; // what is still on its way is newer
    set("grounded", body.grounded);
    set("keyness", body.keyness);
    form.elements.unsure.checked = body.is_unsure;
    draw();
  }

  function judge(answer) {
    set("grounded", answer);
    store();
  }
  function rate(answer) {
    if (value("grounded") !== "yes") { refuse(first, text("yes-first")); return; }
    set("keyness", answer);
    store();
  }
  function doubt() {
    if (value("grounded")) { store(); return; }
    form.elements.unsure.checked = false;
    refuse(first, text("unsure-first"));
  }
  function next() {
    if (isComplete() || !config.is_open) { leave(); return; }
    const isHalf = value("grounded") === "yes";
    refuse(isHalf ? second : first, text(isHalf ? "half" : "unanswered"));
  }
  function keys(key) {
    if (documents.commands[key] || !config.is_open) return documents.commands[key];
    if (GROUNDED[key]) return () => judge(GROUNDED[key]);
    if (KEYNESS[key]) return () => rate(KEYNESS[key]);
    if (key === "x") return () => { form.elements.unsure.checked = !form.elements.unsure.checked; doubt(); };
    return undefined;
  }

  on(form, "submit", (event) => { event.preventDefault(); store(); });
  on(form, "change", ({ target }) => { if (target.name === "unsure") doubt(); else store(); });
  draw();
  if (isComplete()) prefetch();
}
