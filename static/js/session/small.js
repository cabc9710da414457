// Small windows: what a keyboard on the screen leaves free, a row of keys above it, and both parts side by side.
import { find } from "./wire.js";
import { insert } from "./editor.js";

const KEYBOARD_PX = 120; // at least as high
const KEPT = "session-side-by-side";

// The page is as high as what the keyboard leaves; `showCaret()` brings the line that is typed into view.
export function startKeyboard({ editor, showCaret }) {
  const root = document.querySelector(".session"), view = window.visualViewport;
  if (!view) return;
  const fit = () => {
    const isUp = view.scale < 1.05 && innerHeight - view.height > KEYBOARD_PX;
    root.classList.toggle("has-keyboard", isUp);
    root.style.setProperty("--room", `${view.height}px`);
    root.style.setProperty("--room-top", `${view.offsetTop}px`);
    if (isUp && document.activeElement === editor) showCaret();
  };
  for (const type of ["resize", "scroll"]) view.addEventListener(type, fit);
  fit();
}

// A bullet and brackets for keyboards that hide them; the focus stays in the text.
export function startKeyRow({ editor, cite, follow }) {
  const row = find("key-row");
  const put = (start, added, caret) => {
    insert(editor, { start, end: start, insert: added });
    editor.setSelectionRange(caret, caret);
  };
  const acts = {
    bullet() {
      const { value, selectionEnd } = editor;
      const end = (value.indexOf("\n", selectionEnd) + 1 || value.length + 1) - 1;
      const added = value.slice(value.lastIndexOf("\n", end - 1) + 1, end).trim() ? "\n- " : "- ";
      put(end, added, end + added.length);
    },
    brackets() {
      const { value, selectionEnd: at } = editor;
      if (value[at] === "]") editor.setSelectionRange(at + 1, at + 1);
      else put(at, /\S$/.test(value.slice(0, at)) ? " []" : "[]", at + (/\S$/.test(value.slice(0, at)) ? 2 : 1));
    },
    cite,
    follow,
  };
  row.addEventListener("pointerdown", (event) => event.preventDefault());
  row.addEventListener("click", ({ target }) => {
    const act = target.closest("button")?.dataset.act;
    if (!act || editor.readOnly) return;
    if (act === "follow") { follow(); return; }
    editor.focus({ preventScroll: true });
    acts[act]();
  });
}

// Where the window has no room for both parts beside each other by itself.
export function startSplit() {
  const apply = (isSplit) => document.body.classList.toggle("is-split", isSplit);
  try { apply(localStorage.getItem(KEPT) === "1"); } catch { /* private mode */ }
  return () => {
    if (matchMedia("(min-width: 56rem) and (min-height: 30rem)").matches) return; // they are already
    const isSplit = apply(!document.body.classList.contains("is-split"));
    try { localStorage.setItem(KEPT, isSplit ? "1" : "0"); } catch { /* private mode */ }
  };
}
