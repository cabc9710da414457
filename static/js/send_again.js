// A form of passwords that finds the server busy waits and sends itself again. What was typed stays in the form: it is
// written nowhere else. htmx sends the form and puts what comes back into the page.
const GIVE_UP_MS = 300_000, WAIT_S = 2;
const waiting = new WeakMap(); // form to {since, timer}

const formOf = ({ detail }) => detail.requestConfig?.elt.closest("form[data-send-again]");
const show = (form, name) => {
  for (const words of form.querySelectorAll("[data-wait]")) words.hidden = words.dataset.wait !== name;
};

function sendLater(form, seconds) {
  const { since = Date.now(), timer } = waiting.get(form) ?? {};
  clearTimeout(timer);
  if (Date.now() - since > GIVE_UP_MS) {
    waiting.delete(form);
    show(form, "over");
    return;
  }
  show(form, "on");
  const ms = 1000 * seconds * (1 + Math.random()); // not all at the same moment
  waiting.set(form, { since, timer: setTimeout(() => { if (form.isConnected) form.requestSubmit(); }, ms) });
}

// A proxy that holds back too many requests says 429 without a time; the site names one where it means it.
function seconds(xhr) {
  const said = xhr.getResponseHeader("Retry-After");
  if (xhr.status === 503) return Number(said) || WAIT_S;
  return xhr.status === 429 && !said ? WAIT_S : 0;
}

document.addEventListener("htmx:beforeRequest", (event) => {
  const form = formOf(event);
  if (form) clearTimeout(waiting.get(form)?.timer); // whoever presses the button need not wait
});
document.addEventListener("htmx:beforeSwap", (event) => {
  const form = formOf(event);
  if (!form) return;
  const wait = seconds(event.detail.xhr);
  event.detail.shouldSwap = !wait; // pages of refusals too
  if (wait) sendLater(form, wait);
});
document.addEventListener("htmx:sendError", (event) => {
  const form = formOf(event);
  if (form) sendLater(form, WAIT_S);
});
