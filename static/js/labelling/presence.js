// Active time: contact with the server while there are keys, pointer or scrolling; a choice is a contact too. What was
// worked since the last contact goes with the next one, for where there is no connection meanwhile; and how long the
// clock stood, which it does while the tour is open.
import { request } from "../talk.js";

let lastContact = 0; // with the server, whatever item is on the screen

export function watchTime({ config, signal, outbox, show, announce, text }) {
  const longestGap = config.longest_gap_s * 1000;
  let lastSign = Date.now(), worked = 0, stood = 0, isStanding = false, isAsking = false;
  function count() {
    const gap = Math.max(0, Date.now() - lastSign);
    if (isStanding) stood += gap; else if (gap <= longestGap) worked += gap;
    lastSign = Date.now();
  }
  // An act is on its way, and says by these fields what was worked before it.
  function contact() {
    count();
    lastContact = Date.now();
    const fields = [["worked", String(worked)], ...(stood ? [["stood", String(stood)]] : [])];
    worked = stood = 0;
    return fields;
  }
  function tell() {
    lastContact = Date.now();
    const told = { worked, stood };
    request(config.urls.seen, new URLSearchParams([["worked", String(worked)], ["stood", String(stood)]])).then(() => {
      worked = Math.max(0, worked - told.worked);
      stood = Math.max(0, stood - told.stood);
    }, () => {});
  }
  function alive() {
    count();
    if (isStanding) return;
    if (isAsking) { isAsking = false; outbox.rest(); }
    if (config.is_open && outbox.isEmpty && Date.now() - lastContact >= config.contact_every_s * 1000) tell();
  }
  for (const type of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) document.addEventListener(type, alive, { signal, passive: true, capture: true });
  // At once, so that an act without these fields does not count it.
  document.addEventListener("tour", ({ detail: { isOpen } }) => {
    count();
    isStanding = isOpen;
    if (!isOpen && config.is_open && outbox.isEmpty) tell();
  }, { signal });
  alive();
  const asking = setInterval(() => {
    if (isAsking || isStanding || !config.is_open || !outbox.isEmpty || Date.now() - lastSign <= longestGap) return;
    isAsking = true;
    show("still");
    announce(text("still"));
  }, 5000);
  signal.addEventListener("abort", () => clearInterval(asking));
  return { contact };
}
