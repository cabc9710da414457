// A button beside a read-only field, or a word in the page, copies its text.
for (const button of document.querySelectorAll("[data-copy]")) {
  const field = button.parentElement.querySelector("[data-copy-source]");
  const label = button.textContent;
  const select = () => { if (field.select) field.select(); else getSelection().selectAllChildren(field); };
  field.addEventListener("focus", select);
  button.hidden = false;
  button.addEventListener("click", async () => {
    select();
    try {
      await navigator.clipboard.writeText(field.value ?? field.textContent);
    } catch {
      document.execCommand("copy"); // plain http has no clipboard API
    }
    button.textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
