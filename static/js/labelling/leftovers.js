// Answers of label work that this browser still holds because their page was closed before the server had them: sent
// from the list of one's work, which is then loaded anew. Only those of the person who is logged in.
import { Outbox } from "./outbox.js";

const root = document.querySelector("[data-leftovers]");
const { person } = JSON.parse(root.dataset.leftovers);
const notice = Object.assign(document.createElement("p"), { className: "notice" });
let nStored = 0, isRefused = false;

function tell(name, values = {}) {
  const words = root.querySelector(`[data-text="${name}"]`).textContent;
  notice.textContent = words.replace(/\{(\w+)\}/g, (_, key) => values[key]);
  root.append(notice);
}
const page = {
  show(kind) { if (kind === "offline") tell("answers-wait"); },
  answered() { nStored += 1; },
  refused(_, { message }) { isRefused = true; tell("answer-refused", { reason: message ?? "" }); },
};

let keys = [];
try { keys = Object.keys(localStorage); } catch { /* nothing is kept here */ }
const theirs = keys.map((key) => key.split(":")).filter(([, whose, id]) => whose === person && id);
for (const kind of new Set(theirs.map(([ofKind]) => ofKind))) {
  const outbox = new Outbox({ kind, person });
  outbox.serve(page);
  await outbox.running;
}
if (nStored && !isRefused) location.reload();
