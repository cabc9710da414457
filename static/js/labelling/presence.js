// Active time: contact with the server while there are keys, pointer or scrolling; a choice is a contact too.
import { request } from "../talk.js";

export function watchTime({ config, signal, outbox, show, announce, text }) {
  let lastContact = 0, lastSign = Date.now(), isAsking = false;
  function contact() { lastContact = Date.now(); }
  function alive() {
    lastSign = Date.now();
    if (isAsking) { isAsking = false; outbox.rest(); }
    if (!config.is_open || Date.now() - lastContact < config.contact_every_s * 1000) return;
    contact();
    request(config.urls.seen, new URLSearchParams()).catch(() => {});
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
  return { contact };
}
