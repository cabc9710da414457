// Going to another item: pages are fetched and parsed before they are wanted, then put in the place of this one. Some
// are held ahead, so that work goes on where the connection does not.
import { fetchPage } from "../talk.js";

const NOTE = "labels:note", NOTE_LASTS_MS = 15_000;
const PAUSE_MS = 250; // between pages that are fetched ahead: nobody waits for them

const filesOf = (page) => [...page.querySelectorAll("link[rel=stylesheet], script[src]")].map((file) => file.getAttribute("href") ?? file.getAttribute("src"));

export class Onward {
  // `before(url)` is what has to come before a page is fetched; it gives whether that came.
  constructor(selector, before) {
    Object.assign(this, { selector, before, wanted: [], held: new Map(), coming: new Map(), old: new Set(), filling: null });
    addEventListener("online", () => this.fill());
  }

  // Hold the pages of these addresses, the first one first, and no others.
  hold(urls) {
    this.wanted = urls;
    for (const url of this.held.keys()) if (!urls.includes(url)) this.held.delete(url);
    this.fill();
  }
  fill() { this.filling ??= this.fetchAll().finally(() => { this.filling = null; }); }
  // One after the other, at once only the next one; without a connection it ends, until it is asked again.
  async fetchAll() {
    const tried = new Set();
    for (let url; (url = this.wanted.find((each) => !tried.has(each) && !this.held.has(each)));) {
      if (url !== this.wanted[0]) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      tried.add(url);
      if (!(await this.pageAt(url))) return;
    }
  }

  // A page as {root, title, fetchedAt, url}, without a root where it is none of this kind; null where it cannot be had.
  pageAt(url) {
    if (!this.coming.has(url)) this.coming.set(url, this.bring(url).finally(() => this.coming.delete(url)));
    return this.coming.get(url);
  }
  async bring(url) {
    if (!(await this.before(url))) return null;
    const fetchedAt = performance.now(), fetched = await fetchPage(url);
    if (!fetched) return null;
    const made = new DOMParser().parseFromString(fetched.html, "text/html"), here = filesOf(document);
    // What needs a file that is not here, as after an update of the site, is opened as the browser does.
    const root = filesOf(made).every((file) => here.includes(file)) ? made.querySelector(this.selector) : null;
    if (root) document.adoptNode(root);
    const page = { root, title: made.title, fetchedAt, url: fetched.url.replace(/#.*$/, "") + new URL(url, location).hash };
    if (!this.old.delete(url) && root && this.wanted.includes(url)) this.held.set(url, page);
    return page;
  }
  isComing(url) { return this.coming.has(url); }

  // The page of this address if it is here, at once; it is given away only once.
  take(url) {
    const page = this.held.get(url) ?? null;
    this.held.delete(url);
    return page;
  }
  // What is held of this item, or on its way, is out of date.
  drop(address) {
    const url = address.replace(/#.*$/, "");
    this.held.delete(url);
    if (this.coming.has(url)) this.old.add(url);
  }
  // Drop what is held of an item unless it is this revision of it.
  keepOnly(task, revision) {
    for (const [url, { root }] of this.held) {
      const held = JSON.parse(root.dataset.config);
      if (held.task === task && held.revision !== revision) this.held.delete(url);
    }
  }
}

// Open a page as the browser does; a page of label work says the note, if it is of the same study.
export function load(url, note, study) {
  try {
    if (note) sessionStorage.setItem(NOTE, JSON.stringify([Date.now(), note, study]));
  } catch { /* private mode: the note was on the page before */ }
  location.assign(url);
}

// The note that the page before has left, once.
export function noteLeft(study) {
  try {
    const [at, note, of] = JSON.parse(sessionStorage.getItem(NOTE)) ?? [0, "", study];
    sessionStorage.removeItem(NOTE);
    return of === study && Date.now() - at < NOTE_LASTS_MS ? note : "";
  } catch {
    return "";
  }
}
