// A key point in the browser: the two judgments and their keys, beside the documents.
import { OneForm } from "../labelling/one_form.js";
import { run } from "../labelling/shell.js";
import { startDocuments } from "../reading/documents.js";

const GROUNDED = { y: "yes", n: "no" };
const KEYNESS = { 1: "agree", 2: "neutral", 3: "disagree" };

class KeyPoint extends OneForm {
  constructor(root) {
    super(root);
    this.second = this.find("second");
    this.readingKeys = startDocuments(root, this.shell).commands;
  }

  get isYes() { return this.value("grounded") === "yes"; }
  get isAnswered() { return this.value("grounded") !== ""; }
  get keyness() { return this.isYes ? this.value("keyness") : ""; }
  get isComplete() { return this.value("grounded") === "no" || this.keyness !== ""; }

  fields() { return [["grounded", this.value("grounded")], ["keyness", this.keyness]]; }
  show({ grounded, keyness }) {
    this.choose("grounded", grounded);
    this.choose("keyness", keyness);
  }
  read(of) { return { grounded: of("grounded"), keyness: of("keyness") }; }
  drawMore() {
    this.choose("keyness", this.keyness);
    this.second.disabled = !this.config.is_open || !this.isYes;
  }
  missing() { return this.isYes ? [this.second, "half"] : [this.first, "unanswered"]; }

  keys(key) {
    if (GROUNDED[key]) return () => { this.choose("grounded", GROUNDED[key]); this.decide(); };
    return KEYNESS[key] && (() => this.rate(KEYNESS[key]));
  }
  rate(answer) {
    if (!this.isYes) { this.refuse(this.first, "yes-first"); return; }
    this.choose("keyness", answer);
    this.decide();
  }
}

run((root) => new KeyPoint(root).begin());
