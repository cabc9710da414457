// A task with one form: what is answered is stored at each change. A kind extends this with its questions and keys.
import { fieldOf } from "./outbox.js";
import { hasEarlyChoice, startShell } from "./shell.js";
import { explain, markDeciding } from "./explained.js";

export class OneForm {
  constructor(root) {
    this.root = root;
    this.shell = startShell(root, {
      answered: (_, body) => this.answered(body), keys: (key, event) => this.act(key, event), next: () => this.next(), retry: (act) => this.retry(act),
    });
    const { config, find, on } = this.shell;
    Object.assign(this, { config, find, form: find("answer"), first: find("first"), isArrow: false, wasComplete: false, wasSettled: false });
    on(this.form, "submit", (event) => { event.preventDefault(); this.store(); });
    on(this.form, "change", ({ target }) => { if (target.name === "unsure") this.doubt(); else this.decide({ byArrow: this.isArrow }); });
    // Arrows try one radio after another, which decides nothing yet
    on(this.form, "keydown", ({ key }) => { this.isArrow = Boolean(key?.startsWith("Arrow")); });
    on(this.form, "pointerdown", () => { this.isArrow = false; });
  }

  // A kind has: `isAnswered`, `isComplete`, `fields()` to send, `show(body)` of an answer, `read(of)` the same from the
  // fields of an act, `missing()` as the box and the sentence that ask for it, and `keys(key, event)`; it may add `drawMore()`,
  // `readingKeys`, for closed studies too, and `isSettled`: complete, and nothing optional is waited for before going on.
  drawMore() {}
  readingKeys = {};

  value(name) { return this.form.querySelector(`[name=${name}]:checked`)?.value ?? ""; }
  choose(name, wanted) { for (const input of this.form.querySelectorAll(`[name=${name}]`)) input.checked = input.value === wanted; }
  get isSettled() { return this.isComplete; }
  get unsure() { return this.form.elements.unsure; }

  begin() {
    markDeciding(this.root, this.find("feedback")?.dataset.decides);
    if (hasEarlyChoice(this.form) && this.isAnswered) this.store(); else this.draw();
  }
  draw() {
    this.drawMore();
    this.wasComplete = this.isComplete;
    this.wasSettled = this.isSettled;
    this.root.classList.toggle("is-complete", this.wasComplete);
    this.shell.progress(this.wasComplete);
  }
  save() {
    const fields = this.fields();
    if (this.unsure.checked) fields.push(["unsure", "1"]);
    if (this.config.guideline) fields.push(["guideline", String(this.config.guideline)]);
    this.shell.save(fields);
  }
  store() {
    this.save();
    this.draw();
  }
  // Store an answer; one that completes the item may lead on, and then there is nothing to draw here.
  decide({ byArrow = false } = {}) {
    const leadsOn = !this.wasSettled && this.isSettled && !byArrow;
    this.save();
    if (leadsOn) this.shell.goOnByItself();
    if (!this.shell.signal.aborted) this.draw();
  }
  answered(body) {
    if (this.shell.outbox.isWaiting(this.config.task, this.config.urls.choice)) return; // what is still on its way is newer
    this.show(body);
    this.unsure.checked = body.is_unsure;
    this.explain(body);
    this.draw();
  }
  // What comes of an answer, in a trial
  explain(body) { if (this.find("feedback")) explain(this.root, this.find("feedback"), body); }
  retry(act) {
    this.show(this.read((name) => fieldOf(act, name) ?? ""));
    this.unsure.checked = fieldOf(act, "unsure") === "1";
    this.draw();
    return this.first;
  }
  refuse(box, sentence) { this.shell.refuse(box, this.shell.text(sentence)); }
  doubt() {
    if (this.isAnswered) { this.store(); return; }
    if (this.shell.isAuto()) { if (this.unsure.checked) this.shell.say(this.shell.text("unsure-with")); return; }
    this.unsure.checked = false;
    this.refuse(this.first, "unsure-first");
  }
  next() {
    if (this.isComplete || !this.config.is_open) this.shell.leave(); else this.refuse(...this.missing());
  }
  act(key, event) {
    if (this.readingKeys[key] || !this.config.is_open) return this.readingKeys[key];
    return key === "x" ? () => { this.unsure.checked = !this.unsure.checked; this.doubt(); } : this.keys(key, event);
  }
}
