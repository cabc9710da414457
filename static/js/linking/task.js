// A linking task in the browser: choices and keys of the insights; what all label work does is in the shell.
import { run, startShell } from "../labelling/shell.js";
import { Questions } from "./questions.js";

const LEVELS = { 1: "none", 2: "partial", 3: "full" };

run(function start(root) {
  const questions = new Questions(root);
  const { config, text, on, outbox, save, refuse, leave, prefetch } = startShell(root, { answered, keys, next, onClick });

  function answered(act, body) {
    const question = body.question && questions.of(body.question);
    const later = outbox.acts.some(({ fields }) => fields.some(([name, value]) => name === "question" && value === body.question));
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
    if (!question.isCovered) { refuse(question.place, text("covered-first")); return; }
    question.pick(line);
    store(question);
  }
  // On to the next insight without an answer, then to the next summary. What says "covered" has to say where.
  function next() {
    if (!config.is_open) { leave(); return; }
    if (questions.current?.isMissingLine) { refuse(questions.current.place, text("which-bullet")); return; }
    const question = questions.nextUnanswered();
    if (!question) { leave(); return; }
    if (question === questions.current) { refuse(question.place, text("unanswered")); return; }
    questions.choose(question);
    if (question.isMissingLine) refuse(question.place, text("which-bullet"));
  }
  function onClick() {
    const half = questions.all.find((question) => question.isMissingLine);
    if (!half || !config.is_open) { leave(); return; }
    questions.choose(half);
    refuse(half.place, text("which-bullet"));
  }
  function doubt(question) {
    if (question.coverage) { store(question); return; }
    question.isUnsure = false;
    refuse(question.place, text("unsure-first"));
  }

  const commands = {
    ArrowDown: () => questions.step(1), j: () => questions.step(1),
    ArrowUp: () => questions.step(-1), k: () => questions.step(-1),
  };
  const unsure = () => { questions.current.isUnsure = !questions.current.isUnsure; doubt(questions.current); };
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
      if (event.target.name === "line" && !question.isCovered) { question.draw(); refuse(question.place, text("covered-first")); return; }
      if (event.target.name === "unsure") doubt(question); else store(question);
    });
  }
  for (const bullet of questions.bullets) on(bullet, "click", () => { if (!String(getSelection())) pick(Number(bullet.dataset.line)); });

  const named = location.hash.startsWith("#q-") && questions.of(location.hash.slice(3));
  questions.choose(named || questions.unanswered || questions.all[0]);
  if (!questions.unanswered) prefetch();
});
