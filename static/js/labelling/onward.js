// The way to the next task: fetched before it is wanted, then put in the place of this one.
export class Onward {
  constructor({ swap, selector }) {
    Object.assign(this, { swap, selector, url: null, page: null });
  }

  // Fetch the next page once this one is done: what it says of one's progress is then right.
  prefetch(url) {
    if (this.url === url) return;
    this.url = url;
    this.page = fetch(url, { headers: { accept: "text/html" } })
      .then(async (response) => (response.ok ? { url: response.url, html: await response.text() } : null))
      .catch(() => null);
  }

  forget() { this.url = null; }

  async visit(url) {
    const fetched = this.url === url ? await this.page : null;
    const made = fetched && new DOMParser().parseFromString(fetched.html, "text/html");
    const root = made?.querySelector(this.selector);
    if (!root) { location.assign(url); return; }
    history.pushState(null, "", fetched.url);
    document.title = made.title;
    this.swap(document.adoptNode(root));
  }
}
