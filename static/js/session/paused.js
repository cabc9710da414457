// The page of a paused session: go on, and the documents come with the page that loads then.
import { Unreachable, call, config, find, keptTexts, tabId } from "./wire.js";

const goOn = find("resume"), problem = find("problem");
find("kept").hidden = !keptTexts().length;
find("all-saved").hidden = keptTexts().length > 0;
goOn.focus();

function say(message) {
  problem.textContent = message;
  problem.hidden = false;
  goOn.disabled = false;
}

goOn.addEventListener("click", async () => {
  goOn.disabled = true;
  try {
    const { status, body } = await call("resume", { tab_id: tabId });
    if (status === 200 || status === 410) location.replace(config.urls.page);
    else say(status === 401 || status === 403 ? problem.dataset.login : (body.message ?? problem.dataset.offline));
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    say(problem.dataset.offline);
  }
});

// Whoever comes back to this page sees how the session stands now: another tab may have gone on with it.
async function look() {
  if (document.hidden) return;
  try {
    const { status, body } = await call("state");
    if (status !== 200) return;
    if (["submitted", "expired", "voided"].includes(body.state)) location.replace(config.urls.page);
    for (const part of ["still", "elsewhere"]) find(part).hidden = (body.state === "paused") !== (part === "still");
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
  }
}
document.addEventListener("visibilitychange", look);
addEventListener("focus", look);
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
