// Fetches a region anew when somebody comes back to its page: what it shows may have changed in another tab.
const OFTEN_MS = 1000;
let refreshedAt = Date.now();

function refresh() {
  const region = document.querySelector("[data-fresh]");
  if (!region || document.hidden || document.activeElement.matches("input, textarea, select") || Date.now() - refreshedAt < OFTEN_MS) return;
  refreshedAt = Date.now();
  region.dispatchEvent(new Event("refresh"));
}

addEventListener("focus", refresh);
document.addEventListener("visibilitychange", refresh);
