// A preview keeps nothing: what its page put into this browser goes when it is left.
addEventListener("pagehide", () => {
  const { session, person } = JSON.parse(document.querySelector("[data-config]").dataset.config);
  const mine = session ?? `:${person}:`;
  try {
    for (const key of Object.keys(localStorage)) if (key.includes(mine)) localStorage.removeItem(key);
  } catch { /* nothing is kept here */ }
});
