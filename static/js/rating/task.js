// A summary to rate in the browser: aspects, one of them at hand, and their keys, beside the documents.
import { OneForm } from "../labelling/one_form.js";
import { radioIn } from "../place.js";
import { watchPress } from "../press.js";
import { run } from "../labelling/shell.js";
import { startDocuments } from "../reading/documents.js";
import { startCited } from "./cited.js";

const LEVELS = new Set(["1", "2", "3", "4", "5"]);

class Rating extends OneForm {
  constructor(root) {
    super(root);
    this.boxes = [...root.querySelectorAll("[data-aspect]")];
    const documents = startDocuments(root, this.shell);
    this.readingKeys = documents.commands;
    startCited(root, this.shell, documents);
    const { on } = this.shell, isPressed = watchPress(on);
    for (const box of this.boxes) {
      on(box, "focusin", () => { if (!isPressed()) this.take(box); });
      on(box, "click", () => this.take(box));
    }
    // By touch, too, the next aspect is at hand once one is rated: what its ends mean is seen before it is.
    if (matchMedia("(hover: none)").matches) on(this.form, "change", ({ target }) => { if (target.name !== "unsure" && this.following) this.take(this.following); });
    this.take(this.unrated ?? this.boxes[0]);
  }

  rated(box) { return this.value(box.dataset.aspect) !== ""; }
  get unrated() { return this.boxes.find((box) => !this.rated(box)); }
  get isAnswered() { return this.boxes.some((box) => this.rated(box)); }
  get isComplete() { return !this.unrated; }

  take(box) {
    this.current = box;
    for (const each of this.boxes) each.classList.toggle("is-current", each === box);
    box.scrollIntoView({ block: "nearest" });
  }
  step(by) {
    const at = this.boxes.indexOf(this.current) + by;
    if (!this.boxes[at]) return;
    this.take(this.boxes[at]);
    if (this.form.contains(document.activeElement)) radioIn(this.current).focus({ preventScroll: true });
  }
  // The next aspect without a rating, after this one and then from the first.
  get following() {
    const at = this.boxes.indexOf(this.current);
    return [...this.boxes.slice(at + 1), ...this.boxes.slice(0, at)].find((box) => !this.rated(box));
  }

  fields() { return this.boxes.map(({ dataset: { aspect } }) => [aspect, this.value(aspect)]); }
  show(body) { for (const { dataset: { aspect } } of this.boxes) this.choose(aspect, String(body[aspect] ?? "")); }
  read(of) { return Object.fromEntries(this.boxes.map(({ dataset: { aspect } }) => [aspect, of(aspect)])); }
  missing() {
    this.take(this.rated(this.current) ? this.following : this.current);
    return [this.current, "unanswered"];
  }

  keys(key) {
    if (LEVELS.has(key)) return () => this.rate(key);
    const step = { j: 1, k: -1, ...(this.form.contains(document.activeElement) && { ArrowDown: 1, ArrowUp: -1 }) }[key]; // elsewhere arrows scroll
    return step && (() => this.step(step));
  }
  rate(level) {
    this.choose(this.current.dataset.aspect, level);
    this.decide();
    if (this.following) this.take(this.following);
  }
}

run((root) => new Rating(root).begin());
