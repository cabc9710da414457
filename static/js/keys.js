// Keys as they are meant, whatever the layout, Caps Lock, input method or browser extension they come through.

// Extensions send events to the document, or none that has a target.
export const targetOf = ({ target }) => (target instanceof Element ? target : document.body);
export const isTyping = (target) => target.closest("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox], [type=submit])");

// Whether an input method has the key. In Safari the Enter or Escape that ends it comes after its end, as number 229.
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

// The sign that is meant: a digit where the layout has another sign in its place, letters as without Caps Lock; keys that
// are in `own` are themselves.
export function keyOf(event, own = {}) {
  const { key = "", code = "", shiftKey } = event;
  if (key in own) return key;
  if (/^Digit\d$/.test(code) && !shiftKey) return code.at(-1);
  if (key.length === 1 && event.getModifierState("CapsLock")) return shiftKey ? key.toUpperCase() : key.toLowerCase();
  return key;
}

// Whether the key of a Latin letter gives none: under another alphabet, or an input method.
export const isOtherScript = ({ key = "", code = "" }) => /^Key[A-Z]$/.test(code) && !/^\p{Script=Latin}$/u.test(key);
