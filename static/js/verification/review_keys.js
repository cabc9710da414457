// Keys of the review pages: a control with data-key is pressed, or focused where it takes text. Never while typing.
const isTyping = (node) => node.closest("textarea, select, input:not([type=radio]):not([type=checkbox]):not([type=submit])");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const control = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!control || control.disabled) return;
  event.preventDefault();
  control.focus();
  if (!control.matches("textarea, input[type=text]")) control.click();
});
