// After a session: text that this browser kept and that came too late is sent all the same, to be stored apart.
import { Unreachable, call, config, find, local, newId, tabId } from "./wire.js";

const kept = local.read();
try {
  localStorage.removeItem(`clips:${config.session}`);
} catch { /* nothing was kept */ }
if (kept?.text) {
  try {
    const message = { tab_id: tabId, op_id: kept.op_id || newId(), base_rev: kept.base_rev, text: kept.sent ?? kept.text, source: "late" };
    let { status } = await call("draft", message);
    if (status === 410 && kept.sent !== null && kept.sent !== kept.text) {
      ({ status } = await call("draft", { ...message, op_id: newId(), text: kept.text }));
    }
    if (status === 410 || status === 200) {
      local.clear();
      find("late").hidden = false;
    }
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error; // it stays in this browser, for the next visit
  }
}
