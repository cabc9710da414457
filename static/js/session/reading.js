// Reading: where one is, what was read, the divider, notes beside the text.
import { Unreachable, backoff, call, config, events, find, pause, tabId, text } from "./wire.js";

// Sends the newest value until it arrives; values in between may be left out. Gives the sender.
function sender(name, field, onState = () => {}) {
  let waiting, isSending = false;
  return async (value) => {
    waiting = { value };
    onState(false);
    if (isSending) return;
    isSending = true;
    for (let attempt = 0; waiting; ) {
      const { value: sent } = waiting;
      waiting = null;
      try {
        await call(name, { tab_id: tabId, [field]: sent }, { keepalive: document.hidden });
        attempt = 0;
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        waiting ??= { value: sent };
        await pause(backoff(attempt++));
      }
    }
    isSending = false;
    onState(true);
  };
}

export function startReading(pane) {
  const links = new Map([...pane.querySelectorAll("[data-jump]")].map((link) => [link.dataset.jump, link]));
  const docs = [...pane.querySelectorAll(".doc")];
  const toggles = new Map([...pane.querySelectorAll("[data-read]")].map((toggle) => [toggle.dataset.read, toggle]));
  const read = new Set(config.read.map(String));
  const send = sender("read", "documents");
  let current = null;

  const setCurrent = (doc) => {
    if (!doc || doc === current) return;
    links.get(current?.dataset.number)?.removeAttribute("aria-current");
    current = doc;
    const link = links.get(doc.dataset.number), rail = link.closest(".rail");
    link.setAttribute("aria-current", "true");
    const { top, bottom, left, right } = link.getBoundingClientRect(), frame = rail.getBoundingClientRect();
    if (top < frame.top || bottom > frame.bottom) rail.scrollTop += top - frame.top - frame.height / 2;
    if (left < frame.left || right > frame.right) rail.scrollLeft += left - frame.left - frame.width / 2;
  };
  const inView = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
    setCurrent(docs.find((doc) => inView.has(doc)));
  }, { rootMargin: "-25% 0px -74% 0px" });
  docs.forEach((doc) => observer.observe(doc));

  const show = (number) => {
    const isRead = read.has(number);
    toggles.get(number)?.setAttribute("aria-pressed", String(isRead));
    const mark = links.get(number)?.querySelector(".rail-read");
    if (mark) mark.hidden = !isRead;
  };
  const toggle = (number) => {
    if (!read.delete(number)) read.add(number);
    show(number);
    send([...read].map(Number));
  };
  read.forEach(show);
  const jump = (doc) => {
    if (!doc) return;
    doc.scrollIntoView();
    requestAnimationFrame(() => doc.scrollIntoView()); // again, with the documents above laid out
    setCurrent(doc);
  };
  pane.addEventListener("click", (event) => {
    const link = event.target.closest("[data-jump]"), mark = event.target.closest("[data-read]");
    if (mark) toggle(mark.dataset.read);
    if (!link) return;
    event.preventDefault();
    jump(docs.find((doc) => doc.dataset.number === link.dataset.jump));
  });
  return {
    step: (by) => jump(docs[Math.max(0, Math.min(docs.length - 1, docs.indexOf(current) + by))]),
    toggleCurrent: () => current && toggle(current.dataset.number),
  };
}

// Gives what shows the number of hits beside each document.
export function railCounts(pane) {
  const rail = new Map([...pane.querySelectorAll("[data-jump]")].map((link) => [link.dataset.jump, link.querySelector(".rail-hits")]));
  return (docs, counts) => docs.forEach((doc, index) => {
    const badge = rail.get(doc.dataset.number), hits = counts[index];
    if (!badge || badge.textContent === String(hits || "")) return;
    badge.textContent = hits || "";
    badge.hidden = !hits;
    badge.title = text("hits-in", { n: hits });
  });
}

export function startDivider() {
  const divider = find("divider"), panes = find("panes");
  const set = (share) => {
    const rounded = Math.round(Math.max(25, Math.min(75, share)));
    document.body.style.setProperty("--split", rounded);
    divider.setAttribute("aria-valuenow", rounded);
    try { localStorage.setItem("session-split", rounded); } catch { /* private mode */ }
  };
  try { set(Number(localStorage.getItem("session-split")) || 58); } catch { set(58); }
  divider.addEventListener("keydown", ({ key }) => {
    const step = { ArrowLeft: -3, ArrowRight: 3 }[key];
    if (step) set(Number(divider.getAttribute("aria-valuenow")) + step);
  });
  divider.addEventListener("pointerdown", (event) => { event.preventDefault(); divider.setPointerCapture(event.pointerId); });
  divider.addEventListener("pointermove", ({ pointerId, clientX }) => {
    if (!divider.hasPointerCapture(pointerId)) return;
    const { left, width } = panes.getBoundingClientRect();
    set((100 * (clientX - left)) / width);
  });
}

// Notes are kept on the server a little later than the summary is; they are never scored.
export function startNotes() {
  const area = find("notes-text"), state = find("notes-state");
  const send = sender("notes", "text", (isSaved) => { state.textContent = text(isSaved ? "notes-saved" : "notes-unsaved"); });
  let timer, sent = area.value;
  const flush = () => {
    clearTimeout(timer);
    return area.value === sent ? undefined : send(sent = area.value);
  };
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(flush, 2000);
  });
  area.addEventListener("blur", flush);
  document.addEventListener("visibilitychange", () => { if (document.hidden) flush(); });
  if (area.value) area.closest("details").open = true;
  return { area, flush };
}

// Signs of life, also for events that no save takes along.
export function startHeartbeat(everyMs, onAnswer) {
  const beat = async () => {
    const waiting = events.waiting();
    try {
      const answer = await call("heartbeat", { tab_id: tabId, events: waiting });
      if (answer.status === 200) events.done(waiting);
      onAnswer(answer);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
    }
  };
  setInterval(beat, everyMs);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) beat(); });
  return beat;
}
