// Whether a press of a pointer is under way. A press moves the focus; what that shows or hides must wait for the click,
// which would land beside its target.
export function watchPress(on) {
  let isPressed = false;
  on(document, "pointerdown", () => { isPressed = true; });
  for (const type of ["pointerup", "pointercancel"]) on(document, type, () => { setTimeout(() => { isPressed = false; }); });
  return () => isPressed;
}
