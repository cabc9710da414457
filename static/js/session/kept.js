// Copies of typed text in this browser. Each tab has its own, so that no tab removes what another has not sent yet;
// a copy goes once the server has said that it holds that text.

const NAME = /^(session|notes):([0-9a-f-]{36})(?::(\w+))?$/;
const parse = (key) => {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
};

// All copies of a kind (`session` or `notes`), the newest first: the records with `key` and `session`.
export function copies(kind, session) {
  let keys = [];
  try { keys = Object.keys(localStorage); } catch { /* nothing is kept here */ }
  return keys.flatMap((key) => {
    const [, ofKind, of] = NAME.exec(key) ?? [];
    if (ofKind !== kind || (session && of !== session)) return [];
    const record = parse(key);
    return typeof record?.text === "string" ? [{ at: 0, ...record, key, session: of }] : [];
  }).sort((one, other) => other.at - one.at);
}

// Remove a copy, unless its tab has typed on meanwhile.
export function release(copy) {
  if (!copy?.key || parse(copy.key)?.text !== copy.text) return;
  try { localStorage.removeItem(copy.key); } catch { /* nothing is kept here */ }
}

// The copy of one tab. `onFull` is told, once, that the browser keeps none.
export class Copy {
  constructor(kind, { session, person, tab, onFull }) {
    Object.assign(this, { key: `${kind}:${session}:${tab}`, person, tab, onFull });
  }

  // Tells whether it was kept.
  write(record) {
    try {
      localStorage.setItem(this.key, JSON.stringify({ at: Date.now(), ...record, tab_id: this.tab, person: this.person }));
      return true;
    } catch {
      this.onFull?.();
      this.onFull = null;
      return false;
    }
  }

  clear() {
    try { localStorage.removeItem(this.key); } catch { /* nothing was kept */ }
  }
}
