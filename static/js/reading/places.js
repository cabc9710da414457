// Where somebody was in each document, for as long as the tab is open: the way back to a document leads there, and once
// there, to its beginning.
const STILL_MS = 150;
const FRAMES = 6; // texts that come into view are laid out one after the other, each as high as it really is
let going = null;

// Go somewhere by `show()` now and in the next frames, unless a hand leads elsewhere meanwhile.
export function arrive(show) {
  const mine = going = {};
  let left = FRAMES;
  const again = () => {
    if (going !== mine) return;
    show();
    if (left--) requestAnimationFrame(again); else going = null;
  };
  again();
}
for (const type of ["keydown", "pointerdown", "wheel"]) document.addEventListener(type, () => { going = null; }, { capture: true, passive: true });

// `current()` gives the document that is read now; `key` names the texts. Nothing is remembered where nothing can be kept.
export function rememberPlaces({ key, view, docs, current, signal }) {
  const kept = `places:${key}`;
  let places = {}, timer;
  try { places = JSON.parse(sessionStorage.getItem(kept)) ?? {}; } catch { /* private mode */ }
  const numberOf = (doc) => doc.dataset.number;

  function note() {
    clearTimeout(timer);
    const doc = current(), { top } = frameOf(view);
    if (!doc || view.getBoundingClientRect().bottom < top) return; // one page, scrolled on to what is written
    const { top: begins, height } = doc.getBoundingClientRect();
    places[numberOf(doc)] = Math.max(0, Math.min(1, (top - begins) / height));
    places.last = numberOf(doc);
    try { sessionStorage.setItem(kept, JSON.stringify(places)); } catch { /* it lasts as long as this page */ }
  }
  function show(doc, share) {
    doc.scrollIntoView();
    if (!share) return;
    const { scroller, top } = frameOf(view), box = doc.getBoundingClientRect();
    scroller.scrollBy({ top: box.top + share * box.height - top });
  }
  function go(doc) {
    const share = doc === current() ? 0 : places[numberOf(doc)] ?? 0;
    note();
    arrive(() => show(doc, share));
  }
  // Of the box or of the page, whichever scrolls in this layout
  document.addEventListener("scroll", () => { clearTimeout(timer); timer = setTimeout(note, STILL_MS); }, { passive: true, capture: true, signal });
  return {
    go,
    // To where the current one is read, after another layout.
    back() {
      const doc = current(), share = places[numberOf(doc)];
      if (share !== undefined) arrive(() => show(doc, share));
    },
    // The document that was read last, if there is one.
    last: () => docs.find((doc) => numberOf(doc) === places.last),
  };
}

// The document that was gone to last, at first the first one, until one scrolls on.
export function aimIn(view, first) {
  const scrolled = () => frameOf(view).scroller.scrollTop;
  let doc = first, at = 0;
  return {
    set(aimed) {
      doc = aimed;
      const follow = () => { at = scrolled(); if (going) requestAnimationFrame(follow); }; // until it is there
      requestAnimationFrame(follow);
    },
    get() { return doc && Math.abs(scrolled() - at) < 2 ? doc : (doc = null); },
  };
}

// Whether the texts scroll in a box of their own, rather than with the page.
export const isBox = (view) => getComputedStyle(view).overflowY !== "visible";

// Where `view` is read: its own box if it scrolls, else the window without the bars that stick to its edges.
export function frameOf(view) {
  if (isBox(view)) {
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

// Scroll to a range, if it is not well in view; `view` is what holds the documents, and scrolls where there is room.
export function reveal({ startContainer, startOffset, endContainer, endOffset }, view) {
  const live = document.createRange();
  live.setStart(startContainer, startOffset);
  live.setEnd(endContainer, endOffset);
  startContainer.parentElement.scrollIntoView({ block: "nearest" }); // lays the paragraph out, if it was not yet
  arrive(() => {
    const box = live.getBoundingClientRect(), { scroller, top, height } = frameOf(view);
    const isLow = box.bottom > top + height * 0.8, isHigh = box.top < top + Math.min(60, height / 8);
    if (isLow || isHigh) scroller.scrollBy({ top: box.top - top - height / 3 });
  });
}
