// Bullets that no insight is linked to, with an optional reason each. All reasons are one answer.
import { place, reveal } from "../place.js";

export const REASONS = { 4: "subtopic", 5: "general", 6: "unsupported" };

export class Unlinked {
  constructor(root, questions) {
    this.box = root.querySelector("[data-unlinked]");
    this.questions = questions;
    this.rows = this.box ? [...this.box.querySelectorAll("[data-unlinked-line]")] : [];
    this.current = null;
  }

  // Rows of bullets that are linked nowhere
  get shown() {
    const linked = new Set(this.questions.all.flatMap((question) => question.lines));
    return this.rows.filter((row) => !linked.has(Number(row.dataset.unlinkedLine)));
  }
  reasonOf(row) { return row.querySelector("input:checked")?.value ?? ""; }
  set(row, reason) { for (const input of row.querySelectorAll("input")) input.checked = input.value === reason; }
  // The next row without a reason below the current one
  nextOpen() {
    const shown = this.shown;
    return shown.slice(shown.indexOf(this.current) + 1).find((row) => !this.reasonOf(row));
  }

  fields() {
    const version = this.box.querySelector("[name=guideline]")?.value;
    const reasons = this.shown.map((row) => [`reason-${row.dataset.unlinkedLine}`, this.reasonOf(row)]);
    return [["beside", "1"], ...reasons.filter(([, reason]) => reason), ...(version ? [["guideline", version]] : [])];
  }
  show(reasons) {
    const given = new Map(reasons);
    for (const row of this.rows) this.set(row, given.get(Number(row.dataset.unlinkedLine)) ?? "");
  }

  choose(row, { focus = true } = {}) {
    this.current = row;
    for (const each of this.rows) each.classList.toggle("is-current", each === row);
    if (row && focus) { place(row); reveal(row); }
  }
  draw() {
    if (!this.box) return;
    const shown = this.shown;
    for (const row of this.rows) if (row.hidden === shown.includes(row)) row.hidden = !row.hidden;
    if (this.box.hidden === shown.length > 0) this.box.hidden = !shown.length;
    if (this.current?.hidden) this.choose(null);
  }
}
