// What every page of label work does: the state of saving, flag, comment, skip, guidelines, keys, active time, the way on.
import { Onward } from "./onward.js";
import { Outbox, post } from "./outbox.js";

const isTyping = (target) => target.closest("textarea, select, input:not([type=radio], [type=checkbox])");
const KINDS = { login: "problem", refused: "problem", offline: "unsaved", still: "unsaved" };

// `selector` finds the root in a page; `restart(root)` starts the next one; `answered(act, body)` is told what an act
// came to; `keys(key)` gives what a key does beside the common ones, if anything.
export function startShell(root, { selector, restart, answered, keys }) {
  const config = JSON.parse(root.dataset.config), { urls } = config;
  const find = (name) => root.querySelector(`[data-${name}]`);
  const text = (name, values = {}) => root.querySelector(`[data-text="${name}"]`).textContent.replace(/\{(\w+)\}/g, (_, key) => values[key]);
  const announce = (message) => { find("announce").textContent = message; };
  const life = new AbortController(), { signal } = life; // ends when the next task takes this one's place
  const on = (target, type, act) => target.addEventListener(type, act, { signal });
  root.classList.add("has-scripts");

  const onward = new Onward({ selector, swap: (next) => { life.abort(); root.replaceWith(next); scrollTo(0, 0); restart(next); } });
  const onwardUrl = find("onward").getAttribute("href");
  const outbox = new Outbox(config, {
    show,
    answered: (act, body) => {
      if (body.nothing) announce(text("nothing"));
      answered(act, body);
      if (body.state === "done") onward.prefetch(onwardUrl); else onward.forget();
    },
    refused: (_, body) => show("refused", { reason: body.message ?? "?" }),
  });

  function show(kind, values = {}) {
    const place = find("save-state");
    place.dataset.kind = KINDS[kind] ?? kind;
    place.textContent = text(kind, { time: new Date().toLocaleTimeString(), ...values });
    if (kind === "login") place.append(" ", Object.assign(document.createElement("a"), { href: urls.login, target: "_blank", rel: "noopener", textContent: text("login-link") }));
    if (kind === "refused") announce(place.textContent);
  }
  function save(fields) {
    if (!config.is_open) return;
    seen();
    outbox.add(urls.choice, fields);
  }
  function nudge(box) {
    box.classList.add("is-nudged");
    setTimeout(() => box.classList.remove("is-nudged"), 600);
  }
  const undo = () => outbox.add(urls.undo, []);
  const leave = async (url) => { await outbox.running; onward.visit(url); };
  const follow = (link) => { if (link?.href) leave(link.getAttribute("href")); };

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
    on(find("undo-form"), "submit", (event) => { event.preventDefault(); undo(); });
  }

  // guidelines and keys
  const guide = find("guide"), keysOn = find("keys-on"), keysOff = `${config.kind}:keys-off`;
  const toggleGuide = (open = !guide.open) => { if (open) guide.show(); else guide.close(); };
  on(find("open-guide"), "click", (event) => { event.preventDefault(); toggleGuide(); });
  on(find("close-guide"), "click", () => toggleGuide(false));
  const showKeys = () => root.classList.toggle("keys-off", !keysOn.checked);
  try { keysOn.checked = !localStorage.getItem(keysOff); } catch { /* always on */ }
  showKeys();
  on(keysOn, "change", () => {
    showKeys();
    try { if (keysOn.checked) localStorage.removeItem(keysOff); else localStorage.setItem(keysOff, "1"); } catch { /* for this page only */ }
  });

  const skip = () => { const aside = find("aside"); if (aside) { aside.open = true; (aside.querySelector("#reason") ?? aside.querySelector("button")).focus(); } };
  const common = { ArrowLeft: () => follow(find("back")), ArrowRight: () => follow(find("next")), "?": () => toggleGuide() };
  const writing = { u: undo, f: () => remark(find("flag").value), s: skip };
  on(document, "keydown", (event) => {
    const { key, target } = event;
    if (key === "Escape") {
      if (isTyping(target) && target.type === "search") return;
      toggleGuide(false);
      for (const each of root.querySelectorAll("details.over[open]")) each.open = false;
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !keysOn.checked || isTyping(target)) return;
    if (key === "Enter" && target.closest("a, button, summary")) return;
    const act = common[key] ?? keys(key) ?? (config.is_open ? writing[key] : undefined);
    if (!act) return;
    event.preventDefault();
    act();
  });
  for (const name of ["back", "next", "onward"]) on(find(name), "click", (event) => { if (event.ctrlKey || event.metaKey || event.shiftKey) return; event.preventDefault(); follow(event.currentTarget); });

  // active time: contact while there are keys, pointer or scrolling; a choice is a contact too
  let lastContact = 0, lastSign = Date.now(), isAsking = false;
  function seen() { lastContact = Date.now(); }
  function alive() {
    lastSign = Date.now();
    if (isAsking) { isAsking = false; show("idle"); }
    if (!config.is_open || Date.now() - lastContact < config.contact_every_s * 1000) return;
    seen();
    post(urls.seen, []).catch(() => {});
  }
  for (const type of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) document.addEventListener(type, alive, { signal, passive: true, capture: true });
  alive();
  const asking = setInterval(() => {
    if (isAsking || !config.is_open || !outbox.isEmpty || Date.now() - lastSign <= config.longest_gap_s * 1000) return;
    isAsking = true;
    show("still");
    announce(text("still"));
  }, 5000);
  signal.addEventListener("abort", () => clearInterval(asking));
  on(window, "beforeunload", (event) => { if (!outbox.isEmpty) event.preventDefault(); });

  return {
    config, signal, find, text, announce, on, outbox, save, nudge,
    leave: () => leave(onwardUrl), prefetch: () => onward.prefetch(onwardUrl),
  };
}
