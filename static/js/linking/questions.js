// The insights on the page: read and set their answers, and know which one is the current.
import { explain } from "../labelling/explained.js";
import { place, reveal, write } from "../place.js";

const COVERED = ["partial", "full"];

export class Question {
  constructor(box) {
    this.box = box;
    this.uid = box.dataset.question;
    this.number = box.dataset.number;
    this.form = box.querySelector("form");
    this.place = box.querySelector("fieldset"); // where a word on this question goes
    this.missing = box.querySelector("[data-missing]");
    this.lineInputs = [...box.querySelectorAll("[name=line]")];
  }

  get coverage() { return this.form.querySelector("[name=coverage]:checked")?.value ?? ""; }
  set coverage(value) { for (const input of this.form.querySelectorAll("[name=coverage]")) input.checked = input.value === value; }
  get lines() { return this.isCovered ? this.lineInputs.filter((input) => input.checked).map((input) => Number(input.value)) : []; }
  set lines(numbers) { for (const input of this.lineInputs) input.checked = numbers.includes(Number(input.value)); }
  get isUnsure() { return this.form.elements.unsure.checked; }
  set isUnsure(value) { this.form.elements.unsure.checked = value; }
  get isCovered() { return COVERED.includes(this.coverage); }
  get isMissingLine() { return this.isCovered && !this.lines.length; }
  get takesMore() { return this.isCovered && this.lineInputs.some((input) => input.type === "checkbox"); }
  get isAnswered() { return this.coverage === "none" || this.lines.length > 0; }

  fields() {
    const version = this.form.elements.guideline?.value;
    return [
      ["question", this.uid], ["coverage", this.coverage], ...this.lines.map((line) => ["line", String(line)]),
      ...(this.isUnsure ? [["unsure", "1"]] : []), ...(version ? [["guideline", version]] : []),
    ];
  }

  pick(line) {
    const input = this.lineInputs.find((each) => Number(each.value) === line);
    if (!input) return;
    input.checked = input.type === "radio" || !input.checked;
  }

  set({ coverage, lines, is_unsure, ...told }) {
    explain(document, this.box.querySelector("[data-feedback]"), told);
    this.box.classList.toggle("is-wrong", told.is_right === false);
    this.coverage = coverage;
    this.lines = lines;
    this.isUnsure = is_unsure;
    this.draw();
  }

  draw() {
    if (!this.isCovered) this.lines = []; // none is shown as chosen either
    this.missing.hidden = !this.isMissingLine;
    this.wasAnswered = this.isAnswered;
    this.box.classList.toggle("is-answered", this.isAnswered);
    this.box.classList.toggle("is-covered", this.isCovered);
  }
}

export class Questions {
  constructor(root) {
    this.root = root;
    this.all = [...root.querySelectorAll("[data-question]")].map((box) => new Question(box));
    this.bullets = [...root.querySelectorAll("[data-line]")];
    this.usedText = root.querySelector('[data-text="used"]').textContent;
    this.current = null;
    for (const question of this.all) question.draw();
  }

  of(uid) { return this.all.find((question) => question.uid === uid); }
  get unanswered() { return this.all.find((question) => !question.isAnswered); }
  get nAnswered() { return this.all.filter((question) => question.isAnswered).length; }

  // Make a question the current one; with `focus` the keyboard follows.
  choose(question, { focus = true } = {}) {
    if (!question) return;
    this.current = question;
    for (const { box } of this.all) box.classList.toggle("is-current", box === question.box);
    this.draw(); // before the focus, which lays the page out
    if (focus) { place(question.box); reveal(question.box); }
  }

  get isComplete() { return !this.unanswered; }

  // The next one without an answer after the current, then from the top; nothing if all have one.
  nextUnanswered() {
    const at = this.all.indexOf(this.current);
    return [...this.all.slice(at + 1), ...this.all.slice(0, at + 1)].find((question) => !question.isAnswered);
  }

  draw() {
    const links = this.all.map(({ number, lines }) => ({ number, lines })), here = this.current?.lines ?? [];
    for (const bullet of this.bullets) {
      const line = Number(bullet.dataset.line);
      const users = links.filter(({ lines }) => lines.includes(line)).map(({ number }) => number);
      bullet.classList.toggle("is-linked", here.includes(line));
      write(bullet.querySelector("[data-used]"), users.length ? `← ${this.usedText.replace("{numbers}", users.join(", "))}` : "");
    }
    write(this.root.querySelector("[data-answered]"), `${this.nAnswered} / ${this.all.length}`);
  }
}
