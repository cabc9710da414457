// The list of documents: one stop of the Tab key, arrows within it, hits beside each document, and a box for a number.
import { showHits } from "../reading/search.js";
import { clearNotice, config, find, notice, text } from "./wire.js";

const KEPT = "session-all-documents";

// `jump(number)` goes to a document and gives whether there is one; `leave()` puts the focus among the documents.
export function startRail(pane, { jump, leave }) {
  const rail = pane.querySelector(".rail"), box = find("go-to"), all = find("all-documents");
  const links = [...rail.querySelectorAll("[data-jump]")], byNumber = new Map(links.map((link) => [link.dataset.jump, link]));
  const isListed = (link) => link.getClientRects().length > 0;
  const stop = (link) => { for (const each of links) each.tabIndex = each === link ? 0 : -1; };
  stop(links[0]);
  rail.addEventListener("focusin", ({ target }) => { if (links.includes(target)) stop(target); });
  rail.addEventListener("focusout", ({ relatedTarget }) => { if (!links.includes(relatedTarget)) stop(current() ?? links[0]); });
  const current = () => rail.querySelector("[aria-current]");
  rail.addEventListener("keydown", (event) => {
    const listed = links.filter(isListed), at = listed.indexOf(event.target);
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: listed.length - 1 }[event.key];
    if (at < 0 || to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    listed[Math.max(0, Math.min(listed.length - 1, to))].focus();
  });

  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    const number = String(parseInt(box.value, 10));
    const isThere = event.key === "Escape" || jump(number);
    box.ariaInvalid = !isThere;
    if (!isThere) {
      notice("number", text("no-document", { number: box.value }), { seconds: 8 });
      box.select();
      return;
    }
    clearNotice("number");
    box.value = "";
    leave();
  });

  // With a search the list has the documents with hits alone, or all of them.
  let showsAll = false;
  try { showsAll = localStorage.getItem(KEPT) === "1"; } catch { /* private mode */ }
  const narrow = () => {
    rail.classList.toggle("is-narrow", !showsAll);
    all.textContent = text(showsAll ? "only-hits" : "all-documents");
  };
  narrow();
  all.addEventListener("click", () => {
    showsAll = !showsAll;
    narrow();
    try { localStorage.setItem(KEPT, showsAll ? "1" : "0"); } catch { /* private mode */ }
  });
  const showCounts = (docs, counts, where) => {
    const nWithHits = counts.reduce((n, each) => n + (each > 0), 0);
    all.hidden = nWithHits === 0 || nWithHits === docs.length;
    rail.classList.toggle("has-hits", !all.hidden);
    docs.forEach((doc, index) => {
      const link = byNumber.get(doc.dataset.number), badge = link?.querySelector(".rail-hits"), hits = counts[index];
      if (link) showHits(link, where[index]);
      if (!badge || badge.textContent === String(hits || "")) return;
      badge.textContent = hits || "";
      badge.hidden = !hits;
      badge.title = text("found", { n: hits });
    });
  };
  return {
    // Beside each document how many hits it has and where, if the study has that.
    onCounts: config.aids.show_hit_counts ? showCounts : undefined,
    show(link) {
      for (const each of links) if (each !== link) each.removeAttribute("aria-current");
      link.setAttribute("aria-current", "true");
      if (!links.includes(document.activeElement)) stop(link);
      const { top, bottom, left, right } = link.getBoundingClientRect(), frame = rail.getBoundingClientRect();
      if (top < frame.top || bottom > frame.bottom) rail.scrollTop += top - frame.top - frame.height / 2;
      if (left < frame.left || right > frame.right) rail.scrollLeft += left - frame.left - frame.width / 2;
    },
    openBox(digits = "") {
      box.value = digits;
      box.focus({ preventScroll: true });
      if (!digits) box.select();
    },
    linkOf: (number) => byNumber.get(number),
  };
}
