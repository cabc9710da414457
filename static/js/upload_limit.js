// Says that a file is too large before it is sent. The server holds the limit whatever happens here.
for (const form of document.querySelectorAll("form[data-upload-limit]")) {
  const limit = Number(form.dataset.uploadLimit);
  const message = form.querySelector("[data-upload-message]");
  const input = form.querySelector("input[type=file]");

  const check = () => {
    const isTooLarge = [...input.files].some((file) => file.size > limit);
    message.textContent = isTooLarge ? form.dataset.uploadTooLarge : "";
    message.hidden = !isTooLarge;
    return !isTooLarge;
  };

  input.addEventListener("change", check);
  form.addEventListener("submit", (event) => {
    if (!check()) event.preventDefault();
  });
}
