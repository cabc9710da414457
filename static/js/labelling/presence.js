// Active time: contact with the server while there are keys, pointer or scrolling; a choice is a contact too. What was
// worked since the last contact goes with the next one, for where there is no connection meanwhile.
import { request } from "../talk.js";

export function watchTime({ config, signal, outbox, show, announce, text }) {
  const longestGap = config.longest_gap_s * 1000;
  let lastContact = 0, lastSign = Date.now(), worked = 0, isAsking = false;
  function count() {
    const gap = Date.now() - lastSign;
    if (gap > 0 && gap <= longestGap) worked += gap;
    lastSign = Date.now();
  }
  // An act is on its way, and says by these fields what was worked before it.
  function contact() {
    count();
    lastContact = Date.now();
    const fields = [["worked", String(worked)]];
    worked = 0;
    return fields;
  }
  function alive() {
    count();
    if (isAsking) { isAsking = false; outbox.rest(); }
    if (!config.is_open || !outbox.isEmpty || Date.now() - lastContact < config.contact_every_s * 1000) return;
    lastContact = Date.now();
    const told = worked;
    request(config.urls.seen, new URLSearchParams([["worked", String(told)]])).then(() => { worked = Math.max(0, worked - told); }, () => {});
  }
  for (const type of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) document.addEventListener(type, alive, { signal, passive: true, capture: true });
  alive();
  const asking = setInterval(() => {
    if (isAsking || !config.is_open || !outbox.isEmpty || Date.now() - lastSign <= longestGap) return;
    isAsking = true;
    show("still");
    announce(text("still"));
  }, 5000);
  signal.addEventListener("abort", () => clearInterval(asking));
  return { contact };
}
