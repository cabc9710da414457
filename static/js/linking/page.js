// A linking task in the browser: choices and keys of the insights; what all label work does is in the shell.
import { startShell } from "../labelling/shell.js";
import { Questions } from "./questions.js";

const LEVELS = { 1: "none", 2: "partial", 3: "full" };

export function start(root) {
  const questions = new Questions(root);
  const { config, find, text, announce, on, outbox, save, nudge, leave, prefetch } = startShell(root, {
    selector: "[data-linking]", restart: start, answered, keys,
  });

  function answered(act, body) {
    const question = body.insight && questions.of(body.insight);
    const later = outbox.acts.some(({ fields }) => fields.some(([name, value]) => name === "insight" && value === body.insight));
    if (question && !later) question.set(body);
    if (act.url === config.urls.undo && question) questions.choose(question);
    questions.draw();
  }
  function store(question) {
    if (!config.is_open) return;
    question.draw();
    questions.draw();
    save(question.fields());
  }
  function level(coverage) {
    const question = questions.current;
    question.coverage = coverage;
    store(question);
  }
  function pick(line) {
    const question = questions.current;
    if (!question) return;
    if (!question.isCovered) { announce(text("covered-first")); nudge(question.box); return; }
    question.pick(line);
    store(question);
  }
  function next() {
    const question = questions.nextUnanswered();
    if (question) questions.choose(question); else leave();
  }

  const commands = {
    ArrowDown: () => questions.step(1), j: () => questions.step(1),
    ArrowUp: () => questions.step(-1), k: () => questions.step(-1),
    Enter: next,
  };
  const unsure = () => { questions.current.isUnsure = !questions.current.isUnsure; store(questions.current); };
  function keys(key) {
    if (commands[key] || !config.is_open || !questions.current) return commands[key];
    const bullet = questions.bullets.find(({ dataset }) => dataset.key === key);
    if (LEVELS[key]) return () => level(LEVELS[key]);
    if (bullet) return () => pick(Number(bullet.dataset.line));
    return key === "x" ? unsure : undefined;
  }

  for (const question of questions.all) {
    on(question.box, "focusin", () => questions.choose(question, { focus: false }));
    on(question.box, "click", () => questions.choose(question, { focus: false }));
    on(question.form, "submit", (event) => { event.preventDefault(); store(question); });
    on(question.form, "change", (event) => {
      if (event.target.name === "line" && !question.isCovered) { question.draw(); announce(text("covered-first")); nudge(question.box); return; }
      store(question);
    });
  }
  for (const bullet of questions.bullets) on(bullet, "click", () => { if (!String(getSelection())) pick(Number(bullet.dataset.line)); });

  const named = location.hash.startsWith("#q-") && questions.of(location.hash.slice(3));
  questions.choose(named || questions.unanswered || questions.all[0]);
  if (!questions.unanswered) prefetch();
}
