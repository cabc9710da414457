// A linking task in the browser: choices, keys, active time, and what the parts tell each other.
import { Onward } from "./onward.js";
import { Outbox, post } from "./outbox.js";
import { Questions } from "./questions.js";

const KEYS_OFF = "linking:keys-off";
const LEVELS = { 1: "none", 2: "partial", 3: "full" };
const isTyping = (target) => target.closest("textarea, select, input:not([type=radio], [type=checkbox])");

export function start(root) {
  const config = JSON.parse(root.dataset.config), { urls } = config;
  const find = (name) => root.querySelector(`[data-${name}]`);
  const text = (name, values = {}) => root.querySelector(`[data-text="${name}"]`).textContent.replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const announce = (message) => { find("announce").textContent = message; };
  const life = new AbortController(), { signal } = life; // ends when the next summary takes this one's place
  const on = (target, type, act) => target.addEventListener(type, act, { signal });
  root.classList.add("has-scripts");

  const questions = new Questions(root);
  const outbox = new Outbox(config, {
    show,
    answered: (act, body) => {
      if (body.nothing) announce(text("nothing"));
      const question = body.insight && questions.of(body.insight);
      const later = outbox.acts.some(({ fields }) => fields.some(([name, value]) => name === "insight" && value === body.insight));
      if (question && !later) question.set(body);
      if (act.url === urls.undo && question) questions.choose(question);
      questions.draw();
      if (body.state === "done") onward.prefetch(onwardUrl); else onward.forget();
    },
    refused: (_, body) => show("refused", { reason: body.message ?? "?" }),
  });
  const onward = new Onward({ swap: (next) => { life.abort(); root.replaceWith(next); scrollTo(0, 0); start(next); } });
  const onwardUrl = find("onward").getAttribute("href");

  function show(kind, values = {}) {
    const place = find("save-state");
    place.dataset.kind = { login: "problem", refused: "problem", offline: "unsaved" }[kind] ?? kind;
    place.textContent = text(kind, { time: new Date().toLocaleTimeString(), ...values });
    if (kind === "login") place.append(" ", Object.assign(document.createElement("a"), { href: urls.login, target: "_blank", rel: "noopener", textContent: text("login-link") }));
    if (kind === "refused") announce(place.textContent);
  }

  function save(question) {
    if (!config.is_open) return;
    question.draw();
    questions.draw();
    seen();
    outbox.add(urls.choice, question.fields());
  }
  function level(coverage) {
    const question = questions.current;
    question.coverage = coverage;
    save(question);
  }
  function pick(line) {
    const question = questions.current;
    if (!question) return;
    if (!question.isCovered) { announce(text("covered-first")); nudge(question); return; }
    question.pick(line);
    save(question);
  }
  function nudge({ box }) {
    box.classList.add("is-nudged");
    setTimeout(() => box.classList.remove("is-nudged"), 600);
  }
  const leave = async (url) => { await outbox.running; onward.visit(url); };
  const follow = (link) => { if (link?.href) leave(link.getAttribute("href")); };
  function next() {
    const question = questions.nextUnanswered();
    if (question) questions.choose(question); else leave(onwardUrl);
  }

  // flag, comment and skip: plain forms, sent without leaving the page where that is enough
  async function remark(flag) {
    const fields = [["flag", flag], ["comment", root.querySelector("#comment").value]];
    const answer = await post(urls.remark, fields).catch(() => null);
    if (answer?.status !== 200) { show(answer ? "refused" : "offline", { reason: answer?.body.message ?? answer?.status }); return; }
    const button = find("flag"), isFlagged = answer.body.is_flagged;
    button.setAttribute("aria-pressed", String(isFlagged));
    button.value = isFlagged ? "0" : "1";
    find("keep-comment").value = isFlagged ? "1" : "0";
    announce(text(isFlagged ? "flagged" : "unflagged"));
    show("saved");
    find("aside").open = false;
  }
  if (config.is_open) {
    on(find("remark"), "submit", (event) => { event.preventDefault(); remark(event.submitter.value); });
    on(find("undo-form"), "submit", (event) => { event.preventDefault(); outbox.add(urls.undo, []); });
  }

  // guidelines and keys
  const guide = find("guide"), keysOn = find("keys-on");
  const toggleGuide = (open = !guide.open) => { if (open) guide.show(); else guide.close(); };
  on(find("open-guide"), "click", (event) => { event.preventDefault(); toggleGuide(); });
  on(find("close-guide"), "click", () => toggleGuide(false));
  try { keysOn.checked = !localStorage.getItem(KEYS_OFF); } catch { /* always on */ }
  on(keysOn, "change", () => { try { if (keysOn.checked) localStorage.removeItem(KEYS_OFF); else localStorage.setItem(KEYS_OFF, "1"); } catch { /* for this page only */ } });

  const skip = () => { const aside = find("aside"); if (aside) { aside.open = true; (aside.querySelector("#reason") ?? aside.querySelector("button")).focus(); } };
  const commands = {
    ArrowDown: () => questions.step(1), j: () => questions.step(1),
    ArrowUp: () => questions.step(-1), k: () => questions.step(-1),
    ArrowLeft: () => follow(find("back")), ArrowRight: () => follow(find("next")),
    Enter: next, "?": () => toggleGuide(),
  };
  const writing = {
    u: () => outbox.add(urls.undo, []), f: () => remark(find("flag").value), s: skip,
    x: () => { questions.current.isUnsure = !questions.current.isUnsure; save(questions.current); },
  };
  on(document, "keydown", (event) => {
    const { key, target } = event;
    if (key === "Escape") { toggleGuide(false); for (const each of root.querySelectorAll("details.over[open]")) each.open = false; return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !keysOn.checked || isTyping(target)) return;
    if (key === "Enter" && target.closest("a, button, summary")) return;
    let act = commands[key];
    if (!act && config.is_open && questions.current) {
      const bullet = questions.bullets.find(({ dataset }) => dataset.key === key);
      act = LEVELS[key] ? () => level(LEVELS[key]) : bullet ? () => pick(Number(bullet.dataset.line)) : writing[key];
    }
    if (!act) return;
    event.preventDefault();
    act();
  });

  for (const question of questions.all) {
    on(question.box, "focusin", () => questions.choose(question, { focus: false }));
    on(question.box, "click", () => questions.choose(question, { focus: false }));
    on(question.form, "submit", (event) => { event.preventDefault(); save(question); });
    on(question.form, "change", (event) => {
      if (event.target.name === "line" && !question.isCovered) { question.draw(); announce(text("covered-first")); nudge(question); return; }
      save(question);
    });
  }
  for (const bullet of questions.bullets) on(bullet, "click", () => { if (!String(getSelection())) pick(Number(bullet.dataset.line)); });
  for (const name of ["back", "next", "onward"]) on(find(name), "click", (event) => { if (event.ctrlKey || event.metaKey || event.shiftKey) return; event.preventDefault(); follow(event.currentTarget); });

  // active time: contact while there are keys, pointer or scrolling; a choice is a contact too
  let lastContact = 0;
  function seen() { lastContact = Date.now(); }
  function alive() {
    if (!config.is_open || Date.now() - lastContact < config.contact_every_s * 1000) return;
    seen();
    post(urls.seen, []).catch(() => {});
  }
  for (const type of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) document.addEventListener(type, alive, { signal, passive: true, capture: true });
  alive();
  on(window, "beforeunload", (event) => { if (!outbox.isEmpty) event.preventDefault(); });

  const named = location.hash.startsWith("#q-") && questions.of(location.hash.slice(3));
  questions.choose(named || questions.unanswered || questions.all[0]);
  if (!questions.unanswered) onward.prefetch(onwardUrl);
}
