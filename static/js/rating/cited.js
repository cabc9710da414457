// The numbers in a summary lead to its documents. Where all of it scrolls as one page, a button and Back of the browser
// lead back to what was read of the summary.
export function startCited(root, { find, on, signal }, { open, isOnePage }) {
  const summary = find("rated"), back = find("to-summary");
  let leftAt = null; // where the page stood
  const isAway = () => Boolean(history.state?.isCited);
  for (const link of root.querySelectorAll("[data-cited]")) on(link, "click", (event) => {
    event.preventDefault();
    if (isOnePage()) {
      leftAt = scrollY;
      if (!isAway()) history.pushState({ isCited: true }, "");
    }
    open(link.dataset.cited);
  });
  const comeBack = () => { if (leftAt === null) summary.scrollIntoView(); else scrollTo(0, leftAt); };
  on(back, "click", () => { if (isAway()) history.back(); else comeBack(); });
  on(window, "popstate", () => { if (isOnePage() && !isAway()) comeBack(); });
  const watch = new IntersectionObserver(([{ isIntersecting }]) => { back.hidden = isIntersecting; }, { rootMargin: "-15% 0px 0px" });
  watch.observe(summary);
  signal.addEventListener("abort", () => watch.disconnect());
}
