// What a page offers by itself: at most one thing a visit, which is how long the tab is open, and on a few items only.
const VISIT = "offered", ITEMS = 5;

// Whether `name` may be offered on this item: it is noted, and nothing else is offered from then on.
export function mayOffer(name) {
  try {
    const [offered, n = 0] = (sessionStorage.getItem(VISIT) ?? name).split(" ");
    if (offered !== name) return false;
    sessionStorage.setItem(VISIT, `${name} ${Number(n) + 1}`);
    return n < ITEMS;
  } catch { return true; }
}

// The tour of this kind of work is offered until it was taken, until somebody does not want any or is not new to the work,
// as this browser remembers it; not in a preview, which has no place for it.
export function offerTour({ config, find, on, isNew }) {
  const place = find("tour-offer"), key = (kind) => `tour:${kind}:${config.person}`;
  if (!place) return;
  const isSeen = () => { try { return [config.kind, "any"].some((kind) => localStorage.getItem(key(kind))); } catch { return true; } };
  function remember(kind) {
    place.hidden = true;
    try { localStorage.setItem(key(kind), "1"); } catch { /* it is offered again */ }
  }
  if (!isNew && !isSeen()) remember(config.kind);
  place.hidden = isSeen() || !mayOffer("tour");
  on(find("tour-later"), "click", () => remember("any"));
  on(document, "tour", ({ detail: { isOpen } }) => { if (!isOpen) remember(config.kind); });
}
