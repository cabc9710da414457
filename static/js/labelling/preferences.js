// What a person prefers, as scripts of label work know it: what was changed here holds at once, whatever an item that
// was fetched before says, and goes to the server as soon as it can be reached.
import { request } from "../talk.js";

// `config` is that of the item on the screen.
export function preferencesOf({ person, urls, kind }) {
  const key = `prefer:${person}`, changed = {}; // since the page was loaded
  const named = (name) => name === "goes_on" ? `goes_on-${kind}` : name; // of this kind of work alone
  function unsent(values) {
    try {
      if (!values) return JSON.parse(localStorage.getItem(key)) ?? {};
      if (Object.keys(values).length) localStorage.setItem(key, JSON.stringify(values)); else localStorage.removeItem(key);
    } catch { /* for this page only */ }
    return values ?? {};
  }
  // What this browser alone knew, before preferences were the person's, is taken along once.
  for (const [name, old, value] of [["goes_on", `labels:auto:${person}`, true], ["has_keys", `${kind}:keys-off`, false]]) {
    try {
      if (!urls.prefer || localStorage.getItem(old) === null) continue;
      unsent({ ...unsent(), [named(name)]: value });
      localStorage.removeItem(old);
    } catch { /* nothing is kept here */ }
  }
  Object.assign(changed, unsent()); // this page was made before the server knew them
  async function send() {
    const values = unsent(), names = Object.keys(values);
    if (!names.length || !urls.prefer) return false;
    const fields = names.map((name) => [name, values[name] ? "1" : "0"]);
    const answer = await request(urls.prefer, new URLSearchParams(fields)).catch(() => null);
    if (answer?.status !== 200 && answer?.status !== 400) return false; // a 400 is never accepted later
    const now = unsent();
    unsent(Object.fromEntries(Object.entries(now).filter(([name, value]) => values[name] !== value)));
    return true;
  }
  // Gives whether the server knows it.
  function set(name, value) {
    changed[named(name)] = value;
    if (urls.prefer) unsent({ ...unsent(), [named(name)]: value });
    return send();
  }
  addEventListener("online", send);
  send();
  return { config: {}, get(name) { return changed[named(name)] ?? this.config[name]; }, set, send };
}
