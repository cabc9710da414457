// Reading: where one is, what was read, the divider, notes beside the text.
import { aimIn, isBox, rememberPlaces } from "../reading/places.js";
import { startRail } from "./rail.js";
import { Unreachable, announce, backoff, call, config, events, find, keptNotes, localNotes, newId, pause, release, tabId, text } from "./wire.js";

// Sends the newest value until it arrives; values in between may be left out. Gives the sender.
export function sender(name, field, onState = () => {}) {
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

// Gives which document is read and ways to others; `onCurrent(number)` is told of each.
export function startReading(pane, { onCurrent }) {
  const docs = [...pane.querySelectorAll(".doc")], view = pane.querySelector(".documents");
  const toggles = new Map([...pane.querySelectorAll("[data-read]")].map((toggle) => [toggle.dataset.read, toggle]));
  const numbered = (number) => docs.find((doc) => doc.dataset.number === number);
  const read = new Set(config.read.map(String));
  const send = sender("read", "documents");
  const inView = new Set(), aim = aimIn(view, docs[0]);
  const rail = startRail(pane, { jump: (number) => goTo(numbered(number)), leave: () => view.focus({ preventScroll: true }) });
  let current = null, observer = null;

  const setCurrent = (doc) => {
    if (!doc || doc === current) return;
    current = doc;
    rail.show(rail.linkOf(doc.dataset.number));
    onCurrent(doc.dataset.number);
  };
  const isOnePage = () => !isBox(view);
  const watch = () => { // anew where another layout lets something else scroll
    observer?.disconnect();
    inView.clear();
    observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) inView[isIntersecting ? "add" : "delete"](target);
      setCurrent(aim.get() ?? docs.find((doc) => inView.has(doc)));
    }, { root: isOnePage() ? null : view, rootMargin: "-25% 0px -74% 0px" });
    docs.forEach((doc) => observer.observe(doc));
  };
  watch();
  // Where lines break anew or something else scrolls, what was read stays in view; on one page, the text that is written.
  let wide = 0, wasOnePage = isOnePage();
  new ResizeObserver(([{ contentRect: { width } }]) => {
    const isWider = wide && width !== wide, isOther = isOnePage() !== wasOnePage;
    [wide, wasOnePage] = [width, isOnePage()];
    if (isOther) watch();
    if (!current || !(isWider || isOther)) return;
    attend(current);
    const writing = document.activeElement.closest(".writing");
    if (writing && isOnePage()) document.activeElement.scrollIntoView({ block: "nearest" }); else places.back();
  }).observe(view);

  const show = (number) => {
    const isRead = read.has(number);
    toggles.get(number)?.setAttribute("aria-pressed", String(isRead));
    const mark = rail.linkOf(number)?.querySelector(".rail-read");
    if (mark) mark.hidden = !isRead;
  };
  const toggle = (number) => {
    if (!read.delete(number)) read.add(number);
    show(number);
    send([...read].map(Number));
  };
  read.forEach(show);
  const places = rememberPlaces({ key: location.pathname, view, docs, current: () => current });
  // What somebody goes to, clicks into or is led to by the search is what they read, wherever it lies on the screen.
  const attend = (doc) => {
    if (!doc) return;
    aim.set(doc);
    setCurrent(doc);
  };
  const jump = (doc) => {
    if (doc) places.go(doc);
    attend(doc);
    return Boolean(doc);
  };
  pane.addEventListener("click", (event) => {
    const link = event.target.closest("[data-jump]"), mark = event.target.closest("[data-read]");
    if (mark) toggle(mark.dataset.read);
    if (!link) { attend(event.target.closest(".doc")); return; }
    event.preventDefault();
    jump(numbered(link.dataset.jump));
  });
  const tell = (doc) => announce(`[${doc.dataset.number}] ${doc.querySelector("h3").textContent.trim()}`);
  // Gives whether there is such a document.
  const goTo = (doc) => {
    if (jump(doc)) tell(doc);
    return Boolean(doc);
  };
  const step = (by) => goTo(docs[Math.max(0, Math.min(docs.length - 1, docs.indexOf(current) + by))]);
  jump(places.last());
  return {
    rail,
    attend,
    step,
    // From the text that is written to where one was.
    enter() {
      view.focus({ preventScroll: true });
      if (isOnePage()) places.back();
    },
    // Go there, with the focus; the one that is read stays as it is. False where no such document is shown.
    goTo(number) {
      const doc = numbered(String(number));
      if (doc === current) tell(doc); else if (!goTo(doc)) return false;
      this.enter();
      return true;
    },
    toggleCurrent: () => current && toggle(current.dataset.number),
    get number() { return Number(current?.dataset.number); },
    get texts() { return current?.querySelector(".reading"); },
  };
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
