// What opens over the work: submit, two texts, an emptied text, a lost login; and rules and keys beside it.
import { Unreachable, button, call, clearNotice, config, find, local, newId, notice, tabId, text } from "./wire.js";

const keepOpen = (event) => event.preventDefault();

export function startSubmit({ facts, submit, cancel, focus }) {
  const dialog = find("submit-dialog"), problem = find("submit-error"), yes = find("submit-yes");
  const close = () => { cancel(); dialog.close(); focus(); };
  find("submit").addEventListener("click", () => {
    find("submit-facts").textContent = text("submit-facts", facts());
    problem.hidden = true;
    dialog.showModal();
  });
  find("submit-no").addEventListener("click", close);
  dialog.addEventListener("cancel", cancel);
  yes.addEventListener("click", async () => {
    yes.disabled = true;
    await submit(() => { problem.textContent = text("submit-waiting"); problem.hidden = false; });
    yes.disabled = false;
    if (dialog.open) dialog.close();
  });
}

export function askToLogIn(autosave, claim) {
  const link = Object.assign(document.createElement("a"), { href: `${config.urls.login}?next=${config.urls.home}`, target: "_blank", rel: "noopener", textContent: text("login-link") });
  const retry = button(text("login-retry"), async () => {
    clearNotice("login");
    if (autosave.state !== "blocked") { await claim(); return; }
    autosave.state = "open";
    await autosave.flush();
  });
  autosave.show("problem", text("login"));
  notice("login", text("login"), { kind: "bad", actions: [link, retry] });
}

// Two texts: the person picks, by naming the hash of the server's text that goes; the other one stays stored.
export function askWhichText({ autosave, body, onRefused }) {
  const dialog = find("conflict"), problem = find("conflict-error"), editor = autosave.editor;
  const say = (message) => { problem.textContent = message; problem.hidden = false; };
  const { server_text, server_sha256 } = body;
  find("theirs").value = server_text;
  find("ours").value = editor.value;
  problem.hidden = true;
  const resolve = async (chosen) => {
    const { status, body: answer } = await call("resolve", { tab_id: tabId, op_id: newId(), text: chosen, replaces_sha256: server_sha256 });
    if (status === 200) {
      dialog.close();
      local.clear();
      autosave.adopt({ rev: answer.rev, text: chosen }, null);
      editor.focus();
    } else if (answer.code === "conflict") askWhichText({ autosave, body: answer, onRefused });
    else if (status === 401 || status === 403) say(text("login"));
    else { dialog.close(); onRefused(answer.code, answer); }
  };
  dialog.oncancel = keepOpen;
  dialog.onclick = ({ target }) => {
    const { pick } = target.dataset;
    if (pick) resolve(pick === "server" ? server_text : find("ours").value).catch((error) => {
      if (!(error instanceof Unreachable)) throw error;
      say(text("offline"));
    });
  };
  if (!dialog.open) dialog.showModal();
}

export function askIfEmpty(autosave, { server_text }) {
  const dialog = find("empty");
  const reopen = () => {
    dialog.close();
    autosave.state = "open";
    autosave.editor.readOnly = false;
    autosave.editor.focus();
  };
  dialog.oncancel = keepOpen;
  find("empty-back").onclick = () => { reopen(); autosave.put(server_text); autosave.changed(); };
  find("empty-yes").onclick = () => { reopen(); autosave.flush({ more: { confirm_empty: true } }); };
  dialog.showModal();
}

// Beside the work: it covers no control of the editor, and closing it gives the focus back.
export function startGuide() {
  const guide = find("guide"), opener = find("open");
  const toggle = (open = !guide.open) => {
    if (open) guide.show();
    else guide.close();
    opener.setAttribute("aria-expanded", String(open));
    if (!open) opener.focus({ preventScroll: true });
  };
  opener.addEventListener("click", () => toggle());
  guide.addEventListener("click", (event) => { if (event.target.closest("[data-close]")) toggle(false); });
  return { toggle, get isOpen() { return guide.open; } };
}
