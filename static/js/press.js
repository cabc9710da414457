// Whether a press of a pointer is under way. A press moves the focus; what that shows or hides must wait for the click,
// which would land beside its target. Of a touch, both come some time after the finger is up.
const CLICK_WITHIN_MS = 400;

export function watchPress(on) {
  let isPressed = false, timer;
  const endIn = (ms) => { clearTimeout(timer); timer = setTimeout(() => { isPressed = false; }, ms); };
  on(document, "pointerdown", () => { clearTimeout(timer); isPressed = true; });
  on(document, "pointerup", () => endIn(CLICK_WITHIN_MS));
  for (const type of ["click", "pointercancel"]) on(document, type, () => endIn(0));
  return () => isPressed;
}
