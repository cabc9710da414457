// Where somebody was in each document, for as long as the tab is open: the way back to a document leads there, and once
// there, to its beginning.
const STILL_MS = 150;

// `current()` gives the document that is read now; `key` names the texts. Nothing is remembered where nothing can be kept.
export function rememberPlaces({ key, view, docs, current, signal }) {
  const kept = `places:${key}`;
  let places = {}, timer;
  try { places = JSON.parse(sessionStorage.getItem(kept)) ?? {}; } catch { /* private mode */ }
  const isBox = () => getComputedStyle(view).overflowY !== "visible";
  const numberOf = (doc) => doc.dataset.number;

  function note() {
    clearTimeout(timer);
    const doc = current();
    if (!doc) return;
    const { top: begins, height } = doc.getBoundingClientRect();
    places[numberOf(doc)] = Math.max(0, Math.min(1, (frameOf(view).top - begins) / height));
    places.last = numberOf(doc);
    try { sessionStorage.setItem(kept, JSON.stringify(places)); } catch { /* it lasts as long as this page */ }
  }
  function show(doc, share) {
    doc.scrollIntoView();
    if (share) (isBox() ? view : document.scrollingElement).scrollBy({ top: share * doc.getBoundingClientRect().height });
  }
  function go(doc) {
    const share = doc === current() ? 0 : places[numberOf(doc)] ?? 0;
    note();
    show(doc, share);
    requestAnimationFrame(() => show(doc, share)); // again, with the documents above laid out
  }
  // Of the box or of the page, whichever scrolls in this layout
  document.addEventListener("scroll", () => { clearTimeout(timer); timer = setTimeout(note, STILL_MS); }, { passive: true, capture: true, signal });
  return {
    go,
    // The document that was read last, if there is one.
    last: () => docs.find((doc) => numberOf(doc) === places.last),
  };
}

// The document that was gone to last, at first the first one, until one scrolls on.
export function aimIn(view, first) {
  const scrolled = () => frameOf(view).scroller.scrollTop;
  let doc = first, at = 0;
  return {
    set(aimed) { doc = aimed; requestAnimationFrame(() => { at = scrolled(); }); }, // once it is there
    get() { return doc && Math.abs(scrolled() - at) < 2 ? doc : (doc = null); },
  };
}

// Where `view` is read: its own box if it scrolls, else the window without the bars that stick to its edges.
export function frameOf(view) {
  if (getComputedStyle(view).overflowY !== "visible") {
    const { top, height } = view.getBoundingClientRect();
    return { scroller: view, top, height };
  }
  let top = 0, bottom = innerHeight;
  for (const bar of document.querySelectorAll("[data-sticks]")) {
    if (getComputedStyle(bar).position !== "sticky") continue;
    if (bar.dataset.sticks === "top") top += bar.offsetHeight; else bottom -= bar.offsetHeight;
  }
  return { scroller: document.scrollingElement, top, height: bottom - top };
}
