// Texts that this browser still holds of sessions that are over: sent now, to be stored apart, and kept here until
// the server has them. Only those of the person who is logged in; what belongs to a session that goes on stays.
import { Unreachable, backoff, copies, newId, pause, release, request } from "../talk.js";

const root = document.querySelector("[data-leftovers]");
const config = JSON.parse(root.dataset.leftovers);
const OVER = ["submitted", "expired", "voided"];
const STILL_MS = 30_000;
const LONGEST_MS = 60_000;
const AGAIN_MS = 3_000;
const STORED = [200, 409, 410];
const own = location.pathname.match(/\/sessions\/([0-9a-f-]{36})\//)?.[1];
const sentence = (name, values = {}) => root.querySelector(`[data-text="${name}"]`).textContent.replace(/\{(\w+)\}/g, (_, key) => values[key]);

function tell(message, { session, text }) {
  const box = Object.assign(document.createElement("div"), { className: "notice" });
  box.append(Object.assign(document.createElement("p"), { textContent: message }));
  if (text !== undefined) box.append(Object.assign(document.createElement("textarea"), { value: text, readOnly: true, rows: 12, ariaLabel: message }));
  else if (session !== own) box.lastChild.append(" ", Object.assign(document.createElement("a"), { href: `${config.sessions}${session}/`, textContent: sentence("open") }));
  root.append(box);
}

// What the server says to a copy; the operation that was under way goes first, since it may have arrived. A copy keeps
// its `new_id`, so that the server knows a second try.
async function deliver({ key, session, text, sent = null, op_id, base_rev, tab_id, at, new_id }) {
  const url = `${config.sessions}${session}/${key.startsWith("notes:") ? "notes" : "draft"}/`;
  const message = { tab_id: tab_id || newId(), base_rev: base_rev ?? 0, source: "late", ...(at && { typed_at: at }) };
  if (op_id && sent !== null && sent !== text) await request(url, { ...message, op_id, text: sent });
  return request(url, { ...message, op_id: op_id && sent === text ? op_id : new_id, text });
}

// True where one has to look again: the session is in its last seconds, or a tab at work is about to send this.
async function send(session, kept) {
  const { status, body } = await request(`${config.sessions}${session}/state/`);
  if (status !== 200) return false;
  if (!OVER.includes(body.state)) { // its own page puts it back
    const isOld = kept.some(({ at }) => Date.now() - at > STILL_MS);
    if (isOld) tell(sentence("unsent"), { session });
    return !isOld;
  }
  try { for (const name of ["clips", "colours"]) localStorage.removeItem(`${name}:${session}`); } catch { /* nothing was kept */ }
  let late = null;
  for (const copy of kept) { // the newest last, so that the server knows it as the newest
    const answer = await deliver(copy);
    if (STORED.includes(answer.status)) release(copy);
    if (answer.status === 410) late = answer.body.late_words ?? late ?? 0;
    if (answer.status === 413) tell(sentence("too-long"), { text: copy.text });
  }
  if (late !== null && session === own) location.reload();
  else if (late !== null) tell(sentence(late ? "late-words" : "late-change", { n: late }), { session });
  return false;
}

const isTheirs = ({ person, session }) => (person ? person === config.person : session === own);
const ids = new Map(); // one for each text, so that the server knows a second try
const idOf = (name) => ids.get(name) ?? ids.set(name, newId()).get(name);
const held = () => [...copies("session"), ...copies("notes")].filter(isTheirs).map((copy) => ({ ...copy, new_id: idOf(`${copy.key} ${copy.text}`) }));
const until = Date.now() + STILL_MS;
for (const session of new Set(held().map((copy) => copy.session))) {
  for (let attempt = 0; ; attempt += 1) {
    const kept = held().filter((copy) => copy.session === session).sort((one, other) => one.at - other.at);
    try {
      if (!kept.length || !(await send(session, kept)) || Date.now() > until) break;
      await pause(AGAIN_MS);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      await pause(backoff(attempt, LONGEST_MS)); // and where this page is left first, it stays for the next visit
    }
  }
}
