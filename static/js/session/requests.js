// One request, and how long to wait for the next: for every page that sends what somebody typed.

// The token comes from the cookie each time: it changes with a log-in beside the page.
const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? "";

export class Unreachable extends Error {}

// Gives {status, body}; throws Unreachable where no answer came or the server is in trouble.
export async function request(url, message, { keepalive = false, seconds = 15 } = {}) {
  let response;
  try {
    response = await fetch(url, {
      method: message ? "POST" : "GET",
      headers: { accept: "application/json", ...(message && { "content-type": "application/json", "x-csrftoken": token() }) },
      body: message && JSON.stringify(message),
      keepalive,
      redirect: "error",
      signal: keepalive ? undefined : AbortSignal.timeout(seconds * 1000),
    });
  } catch {
    throw new Unreachable();
  }
  if (response.status >= 500 || response.status === 429) throw new Unreachable();
  let body = {};
  try {
    body = await response.json();
  } catch {
    if (response.ok) throw new Unreachable();
  }
  return { status: response.status, body };
}

export function newId() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Wait `ms`, or less if the connection comes back.
export function pause(ms) {
  return new Promise((resolve) => {
    const end = () => { clearTimeout(timer); removeEventListener("online", end); resolve(); };
    const timer = setTimeout(end, ms);
    addEventListener("online", end);
  });
}
export const backoff = (attempt) => Math.min(8000, 1000 * 2 ** attempt) * (0.8 + 0.4 * Math.random());
