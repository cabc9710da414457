// Write words where others stand; the same ones would make the page lay itself out anew.
export function write(place, words) { if (place.textContent !== words) place.textContent = words; }

// Put the focus where the keys of somebody at work belong, without a ring: it comes once they go about by keyboard.
export function place(element) {
  element.dataset.placed = "";
  element.focus({ preventScroll: true });
  element.addEventListener("blur", function left() {
    if (document.activeElement === element) return; // another window
    delete element.dataset.placed;
    element.removeEventListener("blur", left);
  });
}

// The radio of a question that the focus goes to
export const radioIn = (box) => box.querySelector("[type=radio]:checked:not(:disabled)") ?? box.querySelector("[type=radio]:not(:disabled)");

// Bring an element into view within the pane that it scrolls in; the page itself stays where it is.
export function reveal(element) {
  const pane = element.closest("[data-asking]"), onward = pane.querySelector("[data-onward]"), margin = 20; // the way on has a rim
  const box = element.getBoundingClientRect(), room = pane.getBoundingClientRect(), above = parseFloat(getComputedStyle(pane).scrollPaddingTop) || margin;
  const sticks = onward && getComputedStyle(onward).position !== "absolute"; // in a low window it stands above
  const below = sticks ? Math.max(onward.offsetHeight, onward.parentElement.offsetHeight) + margin : 0; // either may stick there
  const down = box.bottom - (room.bottom - below), up = box.top - room.top - above;
  if (pane.scrollHeight <= pane.clientHeight) element.scrollIntoView({ block: "nearest" });
  else if (up < 0) pane.scrollTop += up;
  else if (down > 0) pane.scrollTop += Math.min(down, up);
}
