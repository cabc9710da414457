// A linking task in the browser: choices and keys of the insights; what all label work does is in the shell.
import { fieldOf } from "../labelling/outbox.js";
import { reveal } from "../place.js";
import { watchPress } from "../press.js";
import { DOUBLE_MS } from "../labelling/gate.js";
import { hasEarlyChoice, run, startShell } from "../labelling/shell.js";
import { Questions } from "./questions.js";
import { REASONS, Unlinked } from "./unlinked.js";

const LEVELS = { 1: "none", 2: "partial", 3: "full" };

run(function start(root) {
  const questions = new Questions(root), unlinked = new Unlinked(root, questions);
  const shell = startShell(root, { answered, keys, next, onClick, retry });
  const { config, address, signal, text, on, outbox, save, say, refuse, leave } = shell;

  function draw() {
    questions.draw();
    unlinked.draw();
    shell.progress(questions.isComplete);
  }
  function answered(act, body) {
    if (body.reasons) { tookReasons(act, body); return; }
    const question = body.question && questions.of(body.question);
    if (question && !outbox.acts.some((each) => fieldOf(each, "question") === body.question)) question.set(body);
    if (act.url === config.urls.undo && question) questions.choose(question);
    draw();
  }
  const isOfReasons = (act) => fieldOf(act, "beside") === "1";
  function tookReasons(act, body) {
    if (!outbox.acts.some(isOfReasons)) unlinked.show(body.reasons);
    draw();
  }
  function retry(act) {
    if (isOfReasons(act)) {
      const reasons = act.fields.filter(([name]) => name.startsWith("reason-"));
      unlinked.show(reasons.map(([name, reason]) => [Number(name.slice(7)), reason]));
      draw();
      return unlinked.box;
    }
    const lines = act.fields.filter(([name]) => name === "line").map(([, line]) => Number(line));
    const question = questions.of(fieldOf(act, "question"));
    question.set({ coverage: fieldOf(act, "coverage"), lines, is_unsure: fieldOf(act, "unsure") === "1" });
    questions.choose(question);
    draw();
    return question.place;
  }
  function show(question) {
    question.draw();
    draw();
    if (question.isMissingLine) reveal(question.missing);
  }
  function store(question) {
    save(question.fields());
    show(question);
  }
  // Store an answer; one that completes the insight may lead on, but for where more bullets can be chosen. Where it
  // leads to the next summary, there is nothing to draw here.
  function decide(question, wasAnswered) {
    save(question.fields());
    const leadsOn = shell.isAuto() && !wasAnswered && question.isAnswered && !question.takesMore;
    const unanswered = leadsOn && questions.nextUnanswered();
    if (leadsOn && !unanswered) shell.goOnByItself();
    if (signal.aborted) return;
    show(question);
    if (unanswered) choose(unanswered);
  }
  // An insight, or the row of a bullet
  function choose(stop) {
    const isRow = unlinked.rows.includes(stop);
    unlinked.choose(isRow ? stop : null);
    if (!isRow) questions.choose(stop);
  }
  function step(by) {
    const stops = [...questions.all, ...unlinked.shown];
    const at = stops.indexOf(unlinked.current ?? questions.current);
    choose(stops[Math.max(0, Math.min(stops.length - 1, at + by))]);
  }
  // The same reason again takes it back
  function give(reason) {
    const row = unlinked.current, was = unlinked.reasonOf(row);
    unlinked.set(row, was === reason ? "" : reason);
    save(unlinked.fields());
    if (!shell.isAuto() || was) return;
    const open = unlinked.nextOpen();
    if (open) choose(open); else shell.goOnByItself();
  }
  // A bullet that is chosen first says "full"; after "none" it is refused.
  function takesBullet(question) {
    if (!question.coverage) question.coverage = "full";
    if (!question.isCovered) refuse(question.place, text("covered-first"));
    return question.isCovered;
  }
  function level(coverage) {
    const question = questions.current, was = question.isAnswered;
    question.coverage = coverage;
    decide(question, was);
  }
  function pick(line) {
    const question = questions.current;
    if (!question || !config.is_open || !takesBullet(question)) return;
    const was = question.isAnswered;
    question.pick(line);
    decide(question, was);
  }
  // On to the next insight without an answer, then to the next summary. What says "covered" has to say where.
  // Reasons of bullets are optional: arrows lead to them, Enter never does.
  function next() {
    if (!config.is_open) { leave(); return; }
    if (!unlinked.current && questions.current?.isMissingLine) { refuse(questions.current.place, text("which-bullet")); return; }
    const question = questions.nextUnanswered();
    if (!question) { leave(); return; }
    if (question === questions.current && !unlinked.current) { refuse(question.place, text("unanswered")); return; }
    choose(question);
    if (question.isMissingLine) refuse(question.place, text("which-bullet"));
  }
  // The button leads to what is missing, wherever it is, and says so where one is there already; the arrows of the bar
  // leave an unfinished summary.
  function onClick() {
    const open = questions.all.find((question) => question.isMissingLine) ?? questions.unanswered;
    if (!open || !config.is_open) { leave(); return; }
    const isHere = open === questions.current && !unlinked.current;
    choose(open);
    if (isHere || open.isMissingLine) refuse(open.place, text(open.isMissingLine ? "which-bullet" : "unanswered"));
  }
  function doubt(question) {
    if (question.coverage) { store(question); return; }
    if (shell.isAuto()) { if (question.isUnsure) say(text("unsure-with")); return; }
    question.isUnsure = false;
    refuse(question.place, text("unsure-first"));
  }

  const commands = {
    ArrowDown: () => step(1), j: () => step(1), ArrowUp: () => step(-1), k: () => step(-1),
  };
  const unsure = () => { questions.current.isUnsure = !questions.current.isUnsure; doubt(questions.current); };
  function keys(key) {
    if (commands[key] || !config.is_open || !questions.current) return commands[key];
    const bullet = questions.bullets.find(({ dataset }) => dataset.key === key);
    if (unlinked.current && REASONS[key]) return () => give(REASONS[key]);
    if (unlinked.current) return LEVELS[key] || bullet || key === "x" ? () => refuse(unlinked.current, text("of-insights")) : undefined;
    if (LEVELS[key]) return () => level(LEVELS[key]);
    if (bullet) return () => pick(Number(bullet.dataset.line));
    return key === "x" ? unsure : undefined;
  }

  const isPressed = watchPress(on);
  for (const question of questions.all) {
    const come = () => {
      if (unlinked.current) unlinked.choose(null);
      if (question !== questions.current) questions.choose(question, { focus: false });
    };
    on(question.box, "focusin", () => { if (!isPressed()) come(); });
    on(question.box, "click", come);
    on(question.form, "submit", (event) => { event.preventDefault(); store(question); });
    on(question.form, "change", (event) => {
      if (event.target.name === "line" && !takesBullet(question)) { question.draw(); return; }
      if (event.target.name === "unsure") doubt(question); else decide(question, question.wasAnswered);
    });
  }
  for (const row of unlinked.rows) {
    on(row, "focusin", () => unlinked.choose(row, { focus: false }));
    on(row, "change", () => save(unlinked.fields()));
  }
  if (unlinked.box) on(unlinked.box, "submit", (event) => { event.preventDefault(); save(unlinked.fields()); });
  // The second half of a double click is no answer to the insight that has come since.
  let clicked = null;
  for (const bullet of questions.bullets) on(bullet, "click", () => {
    const now = { bullet, question: questions.current, at: performance.now() };
    if (String(getSelection())) return;
    if (clicked?.bullet === bullet && clicked.question !== now.question && now.at - clicked.at < DOUBLE_MS) return;
    clicked = now;
    pick(Number(bullet.dataset.line));
  });

  const named = address.hash.startsWith("#q-") && questions.of(address.hash.slice(3));
  draw();
  questions.choose(named || questions.unanswered || questions.all[0]);
  for (const question of questions.all) if (hasEarlyChoice(question.form) && question.coverage) store(question);
});
