// What was done elsewhere, such as in another tab: looked for whenever somebody comes back to this one.
import { request } from "../talk.js";

const OFTEN_MS = 1000;

// `learn(tasks)` is told how the items near stand, `renew()` called where the one on the screen is out of date, `gone()` where
// it is nobody's here any more. Gives `know(revision)` for what this page itself has done.
export function watchElsewhere({ config, on, signal, outbox, learn, renew, gone }) {
  const { urls } = config;
  let { revision } = config, lookedAt = 0;
  async function look() {
    if (!urls.near || document.hidden || !outbox.isEmpty || Date.now() - lookedAt < OFTEN_MS) return;
    lookedAt = Date.now();
    const answer = await request(urls.near).catch(() => null);
    if (signal.aborted) return; // another item is here
    if (answer?.status === 404) gone();
    if (answer?.status !== 200 || !outbox.isEmpty) return; // the next time somebody comes back
    const mine = answer.body.tasks.find(({ task }) => task === config.task);
    if (mine && mine.revision < revision) return; // it was on its way before what was done here since
    learn(answer.body.tasks);
    if (answer.body.is_open !== config.is_open || (mine && mine.revision > revision)) renew();
  }
  on(window, "focus", look);
  on(document, "visibilitychange", look);
  return { know(newer) { revision = Math.max(revision, newer ?? 0); } };
}

const FIELDS = "textarea, input:not([type=radio], [type=checkbox], [type=hidden])";

// Note what is typed on a page, which boxes are open and how far it is scrolled; gives what brings that to another
// rendering of the same page.
export function remember(root) {
  const typed = [...root.querySelectorAll(FIELDS)].map((field) => (field.value === field.defaultValue ? null : field.value));
  const open = [...root.querySelectorAll("details")].map((box) => box.open), at = [scrollX, scrollY];
  const scrolled = [...root.querySelectorAll("section, [data-reading], [data-rated]")].map((box) => box.scrollTop);
  const focused = [...root.querySelectorAll(FIELDS)].indexOf(document.activeElement);
  const selection = focused < 0 ? null : [document.activeElement.selectionStart, document.activeElement.selectionEnd];
  return (made) => {
    const fields = [...made.querySelectorAll(FIELDS)];
    typed.forEach((value, index) => { if (value !== null && fields[index]) fields[index].value = value; });
    made.querySelectorAll("details").forEach((box, index) => { box.open = open[index] ?? false; });
    const scroll = () => {
      made.querySelectorAll("section, [data-reading], [data-rated]").forEach((box, index) => { box.scrollTop = scrolled[index] ?? 0; });
      scrollTo(...at);
    };
    fields[focused]?.focus({ preventScroll: true });
    if (selection?.[0] !== null) try { fields[focused]?.setSelectionRange(...selection); } catch { /* not of a number */ }
    requestAnimationFrame(() => requestAnimationFrame(scroll)); // after the page has begun where it does
  };
}
