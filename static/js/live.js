/* Refreshes what a page shows of work under way, while somebody looks at it. */
const EVERY_MS = 15_000;

function refresh() {
  const region = document.querySelector("[data-live]");
  if (!region || document.hidden || !document.getSelection().isCollapsed) return;
  region.dispatchEvent(new Event("refresh"));
}

setInterval(refresh, EVERY_MS);
document.addEventListener("visibilitychange", refresh);
