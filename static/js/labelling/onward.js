// Going to another item: its page is fetched and parsed before it is wanted, then put in the place of this one.
import { fetchPage } from "../talk.js";

const NOTE = "labels:note", NOTE_LASTS_MS = 15_000;

export class Onward {
  constructor(selector) {
    Object.assign(this, { selector, url: null, page: null, coming: null });
  }

  // Fetch a page once `before` has come, unless it is here or on its way.
  prefetch(url, before = null) {
    if (this.url === url) return this.coming;
    Object.assign(this, { url, page: null });
    this.coming = this.bring(url, before);
    return this.coming;
  }
  async bring(url, before) {
    await before;
    const fetchedAt = performance.now(), fetched = await fetchPage(url);
    const made = fetched && new DOMParser().parseFromString(fetched.html, "text/html");
    const root = made?.querySelector(this.selector) ?? null;
    const page = fetched && { root, title: made.title, fetchedAt, url: fetched.url.replace(/#.*$/, "") + new URL(url, location).hash };
    if (this.url === url) {
      this.page = page;
      if (!root) this.url = null; // try again when it is wanted
    }
    return page;
  }

  forget() { Object.assign(this, { url: null, page: null }); }

  // The page of this address if it is here, at once; it is given away only once.
  take(url) {
    const page = this.url === url ? this.page : null;
    if (page) this.forget();
    return page;
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
