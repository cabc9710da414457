// Reading: where one is, what was read, the divider, notes beside the text.
import { aimIn, rememberPlaces } from "../reading/places.js";
import { showHits } from "../reading/search.js";
import { Unreachable, announce, backoff, call, config, events, find, keptNotes, localNotes, newId, pause, release, tabId, text } from "./wire.js";

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

const AS_A_PAGE = "(max-height: 29.99rem), (max-width: 55.99rem) and (max-height: 35.99rem)"; // as in session.css

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
  const view = pane.querySelector(".documents"), inView = new Set(), aim = aimIn(view, docs[0]);
  let observer = null;
  const watch = () => { // anew where another layout lets something else scroll
    observer?.disconnect();
    inView.clear();
    observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
      setCurrent(aim.get() ?? docs.find((doc) => inView.has(doc)));
    }, { root: getComputedStyle(view).overflowY === "visible" ? null : view, rootMargin: "-25% 0px -74% 0px" });
    docs.forEach((doc) => observer.observe(doc));
  };
  watch();
  matchMedia(AS_A_PAGE).addEventListener("change", watch);

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
  const places = rememberPlaces({ key: location.pathname, view, docs, current: () => current });
  const jump = (doc) => {
    if (!doc) return;
    places.go(doc);
    aim.set(doc);
    setCurrent(doc);
  };
  pane.addEventListener("click", (event) => {
    const link = event.target.closest("[data-jump]"), mark = event.target.closest("[data-read]");
    if (mark) toggle(mark.dataset.read);
    if (!link) return;
    event.preventDefault();
    jump(docs.find((doc) => doc.dataset.number === link.dataset.jump));
  });
  const step = (by) => {
    const doc = docs[Math.max(0, Math.min(docs.length - 1, docs.indexOf(current) + by))];
    jump(doc);
    if (doc) announce(`[${doc.dataset.number}] ${doc.querySelector("h3").textContent.trim()}`);
  };
  jump(places.last());
  return {
    step,
    toggleCurrent: () => current && toggle(current.dataset.number),
  };
}

// Gives what shows beside each document how many hits it has, and where.
export function railCounts(pane) {
  const rail = new Map([...pane.querySelectorAll("[data-jump]")].map((link) => [link.dataset.jump, link]));
  return (docs, counts, where) => docs.forEach((doc, index) => {
    const link = rail.get(doc.dataset.number), badge = link?.querySelector(".rail-hits"), hits = counts[index];
    if (link) showHits(link, where[index]);
    if (!badge || badge.textContent === String(hits || "")) return;
    badge.textContent = hits || "";
    badge.hidden = !hits;
    badge.title = text("found", { n: hits });
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

// Notes are kept on the server a little later than the summary is; they are never scored. Until the server has them
// this browser holds a copy, also of what came too late.
export function startNotes() {
  const area = find("notes-text"), state = find("notes-state");
  let stored = area.value, apart = null, sending = null, timer, typedAt = 0;
  const isDirty = () => area.value !== stored && area.value !== apart;
  const keep = () => {
    if (isDirty()) return localNotes.write({ text: area.value, base: stored, at: typedAt });
    localNotes.clear();
    return true;
  };

  // Tells whether the server or this browser holds all of it.
  async function send() {
    for (let attempt = 0; isDirty(); ) {
      const sent = area.value;
      state.textContent = text("notes-unsaved");
      try {
        const { status } = await call("notes", { tab_id: tabId, op_id: newId(), text: sent, typed_at: typedAt || Date.now() }, { keepalive: document.hidden });
        attempt = 0;
        if (status === 200) stored = sent;
        else if (status === 410) apart = sent;
        else { // another tab writes (the server has stored this apart), no login, too long: it stays in this browser
          state.textContent = text("notes-kept");
          return keep();
        }
        keep();
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        await pause(backoff(attempt++));
      }
    }
    state.textContent = text("notes-saved");
    return true;
  }
  const flush = () => {
    clearTimeout(timer);
    if (!isDirty()) return sending ?? true;
    return sending ??= send().finally(() => { sending = null; });
  };
  const changed = () => {
    keep();
    clearTimeout(timer);
    timer = setTimeout(flush, 2000);
  };
  area.addEventListener("input", () => { typedAt = Date.now(); changed(); });
  area.addEventListener("blur", flush);
  document.addEventListener("visibilitychange", () => { if (document.hidden) flush(); });
  addEventListener("pagehide", () => {
    if (isDirty()) call("notes", { tab_id: tabId, op_id: newId(), text: area.value, typed_at: typedAt || Date.now() }, { keepalive: true }).catch(() => {});
  });
  for (const copy of keptNotes().reverse()) { // what did not arrive comes back: in place of what it builds on, or below
    if (copy.text !== area.value) area.value = copy.base === area.value ? copy.text : `${area.value}\n\n${copy.text}`.trim();
    typedAt = copy.at;
    if (!isDirty() || localNotes.write({ text: area.value, base: stored, at: typedAt })) release(copy);
  }
  if (isDirty()) changed();
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
