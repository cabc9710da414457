// A pair in the browser: the answer, the passage and their keys.
import { OneForm } from "../labelling/one_form.js";
import { run } from "../labelling/shell.js";
import { reveal } from "../place.js";
import { Sentences } from "../reading/sentences.js";
import { Snippet } from "./snippet.js";

const ANSWERS = { 1: "yes", 2: "neutral", 3: "no", y: "yes", 0: "neutral", n: "no" };
const REASONS = { 4: "incomplete", 5: "general", 6: "missing", 7: "contradicted" };

class Pair extends OneForm {
  constructor(root) {
    super(root);
    const { start, end } = this.form.elements, { on } = this.shell;
    this.snippet = new Snippet(this.find("response"), start.value ? [Number(start.value), Number(end.value)] : null);
    this.sentences = new Sentences(this.find("response"), this.find("response").closest("section"));
    if (!this.find("marking")) return;
    this.find("marking").hidden = false;
    // A press of the button must not take the selection away before it is read
    on(this.find("mark"), "mousedown", (event) => event.preventDefault());
    on(this.find("mark"), "click", () => this.mark());
    on(this.find("unmark"), "click", () => this.unmark());
  }

  get isAnswered() { return this.value("answer") !== ""; }
  get isComplete() { return this.isAnswered; }
  get takesReason() { return Boolean(this.find("why")) && this.isAnswered && this.value("answer") !== "yes"; }
  fits(why) { return !why || this.form.querySelector(`[name=why][value=${why}]`).closest("label").dataset.reasonOf === this.value("answer"); }
  get why() { return this.takesReason && this.fits(this.value("why")) ? this.value("why") : ""; }
  get isSettled() { return this.isAnswered && (!this.takesReason || this.why !== ""); }

  fields() {
    const { why, snippet: { place } } = this;
    return [["answer", this.value("answer")], ...(why ? [["why", why]] : []), ...(place ? [["start", String(place[0])], ["end", String(place[1])]] : [])];
  }
  show({ answer, snippet, why_not: why }) {
    this.choose("answer", answer);
    this.choose("why", why);
    this.snippet.set(snippet);
  }
  read(of) { return { answer: of("answer"), why_not: of("why"), snippet: of("end") && [Number(of("start")), Number(of("end"))] }; }
  drawMore() {
    this.choose("why", this.why);
    if (!this.find("unmark")) return;
    this.find("unmark").hidden = this.find("quote").hidden = !this.snippet.place;
    this.find("quote").textContent = this.snippet.words;
  }
  missing() { return [this.first, "unanswered"]; }
  // What is asked next comes into view
  decide(how) {
    super.decide(how);
    if (this.takesReason && !this.why) reveal(this.find("why"));
  }

  keys(key, { shiftKey }) {
    const step = this.sentences.isOn && { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step) return () => this.sentences.step(step, shiftKey);
    if (this.sentences.isOn && key === "Escape") return () => { this.sentences.stop(); this.shell.say(""); };
    if (this.sentences.isOn && key === "Enter") return () => this.mark();
    if (ANSWERS[key]) return () => { this.choose("answer", ANSWERS[key]); this.decide(); };
    if (REASONS[key] && this.takesReason && this.fits(REASONS[key])) return () => this.reason(REASONS[key]);
    return { m: () => this.mark(), M: () => this.unmark() }[key];
  }
  // The same reason again takes it back
  reason(wanted) { this.choose("why", this.value("why") === wanted ? "" : wanted); this.decide(); }
  mark() {
    if (this.snippet.isChanged) { this.shell.say(this.shell.text("translated")); return; }
    const place = this.snippet.selected();
    if (!place && matchMedia("(hover: none)").matches) { this.shell.say(this.shell.text("select-first")); return; }
    if (!place) { this.sentences.begin(); this.refuse(this.find("marking"), "nothing-selected"); return; }
    this.sentences.stop();
    this.snippet.set(place);
    getSelection().removeAllRanges();
    if (!this.isAnswered) { this.draw(); this.shell.say(this.shell.text("marked-only")); return; }
    this.store();
    this.shell.say(this.shell.text("marked"));
  }
  unmark() {
    this.snippet.set(null);
    if (this.isAnswered) this.store(); else this.draw();
    this.shell.say(this.shell.text("unmarked"));
  }
}

run((root) => new Pair(root).begin());
