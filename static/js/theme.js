// Light, dark or as the system says; remembered in this browser. Runs before the page is drawn.
const themes = ["auto", "light", "dark"];
const root = document.documentElement;
try {
  root.dataset.theme = localStorage.getItem("theme") || "auto";
} catch {
  root.dataset.theme = "auto";
}
document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    const show = () => { button.textContent = button.dataset[root.dataset.theme]; };
    button.hidden = false;
    show();
    button.addEventListener("click", () => {
      root.dataset.theme = themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length];
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* private mode */ }
      show();
    });
  }
});
