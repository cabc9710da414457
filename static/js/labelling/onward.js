// Going to another task: it is fetched, perhaps before it is wanted, then put in the place of this one.
import { fetchPage } from "../talk.js";

const NOTE = "labels:note", NOTE_LASTS_MS = 15_000;

export class Onward {
  constructor({ swap, selector }) {
    Object.assign(this, { swap, selector, url: null, page: null });
  }

  // Fetch the next page once this one is done: what it says of one's progress is then right.
  prefetch(url) {
    if (this.url === url) return;
    this.url = url;
    this.page = fetchPage(url);
  }

  forget() { this.url = null; }

  // Whether the page is there, or on its way; `note` is said on it. Nothing happens once `isWanted` says no.
  async visit(url, { isWanted, note }) {
    let fetched = this.url === url ? await this.page : null;
    if (!fetched) {
      this.forget();
      this.prefetch(url);
      fetched = await this.page;
    }
    if (!isWanted()) return true;
    if (!fetched) { this.forget(); return false; }
    const made = new DOMParser().parseFromString(fetched.html, "text/html");
    const root = made.querySelector(this.selector);
    if (!root) { load(url, note()); return true; }
    history.pushState(null, "", fetched.url.replace(/#.*$/, "") + new URL(url, location).hash);
    document.title = made.title;
    this.swap(document.adoptNode(root), note());
    return true;
  }
}

// Open a page as the browser does; a page of label work says the note.
export function load(url, note) {
  try {
    if (note) sessionStorage.setItem(NOTE, JSON.stringify([Date.now(), note]));
  } catch { /* private mode: the note was on the page before */ }
  location.assign(url);
}

// The note that the page before has left, once.
export function noteLeft() {
  try {
    const [at, note] = JSON.parse(sessionStorage.getItem(NOTE)) ?? [0, ""];
    sessionStorage.removeItem(NOTE);
    return Date.now() - at < NOTE_LASTS_MS ? note : "";
  } catch {
    return "";
  }
}
