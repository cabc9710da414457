// A task with one form: what is answered is stored at each change. A kind extends this with its questions and keys.
import { startShell } from "./shell.js";

export class OneForm {
  constructor(root) {
    this.root = root;
    this.shell = startShell(root, {
      answered: (_, body) => this.answered(body), keys: (key) => this.act(key), next: () => this.next(),
    });
    const { config, find, on } = this.shell;
    Object.assign(this, { config, find, form: find("answer"), first: find("first") });
    on(this.form, "submit", (event) => { event.preventDefault(); this.store(); });
    on(this.form, "change", ({ target }) => { if (target.name === "unsure") this.doubt(); else this.store(); });
  }

  // A kind has: `isAnswered`, `isComplete`, `fields()` to send, `show(body)` of an answer, `missing()` as the box and
  // the sentence that ask for it, and `keys(key)`; it may add `drawMore()` and `readingKeys`, for closed studies too.
  drawMore() {}
  readingKeys = {};

  value(name) { return this.form.querySelector(`[name=${name}]:checked`)?.value ?? ""; }
  choose(name, wanted) { for (const input of this.form.querySelectorAll(`[name=${name}]`)) input.checked = input.value === wanted; }
  get unsure() { return this.form.elements.unsure; }

  begin() {
    this.draw();
    if (this.isComplete) this.shell.prefetch();
  }
  draw() {
    this.drawMore();
    const isComplete = this.isComplete, done = this.config.n_done_besides + isComplete;
    this.root.classList.toggle("is-complete", isComplete);
    this.find("progress").value = done;
    this.find("done").textContent = this.shell.text("done", { n: done });
  }
  store() {
    if (!this.config.is_open) return;
    this.draw();
    const fields = this.fields();
    if (this.unsure.checked) fields.push(["unsure", "1"]);
    if (this.config.guideline) fields.push(["guideline", String(this.config.guideline)]);
    this.shell.save(fields);
  }
  answered(body) {
    if (this.shell.isWaiting(this.config.urls.choice)) return; // what is still on its way is newer
    this.show(body);
    this.unsure.checked = body.is_unsure;
    this.draw();
  }
  refuse(box, sentence) { this.shell.refuse(box, this.shell.text(sentence)); }
  doubt() {
    if (this.isAnswered) { this.store(); return; }
    this.unsure.checked = false;
    this.refuse(this.first, "unsure-first");
  }
  next() {
    if (this.isComplete || !this.config.is_open) this.shell.leave(); else this.refuse(...this.missing());
  }
  act(key) {
    if (this.readingKeys[key] || !this.config.is_open) return this.readingKeys[key];
    return key === "x" ? () => { this.unsure.checked = !this.unsure.checked; this.doubt(); } : this.keys(key);
  }
}
