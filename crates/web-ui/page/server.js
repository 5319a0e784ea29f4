// Requests to the server of this page.

const STORED_KEY = "agentd-key";
const API = "/ui/api/";

/// The refusal of a request, with the way out.
export class Problem extends Error {
  constructor(message, advice, status, body) {
    super(message);
    this.advice = advice;
    this.status = status;
    this.body = body;
  }
}

let onNoAccess = () => {};

/// Sets what happens when the server does not know this browser.
export function whenRefused(then) {
  onNoAccess = then;
}

/// Reports that the server does not know this browser.
export function refused() {
  onNoAccess();
}

/// Sets what happens when another tab has entered.
export function whenEnteredElsewhere(then) {
  addEventListener("storage", (event) => event.key === STORED_KEY && event.newValue && then());
}

export const keepKey = (key) => localStorage.setItem(STORED_KEY, key);

/// The headers that show that a request comes from this page.
export function headers() {
  return { "x-agentd-key": localStorage.getItem(STORED_KEY) ?? "" };
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(API + path, { cache: "no-store", credentials: "same-origin", ...options });
  } catch {
    throw new Problem("agentd does not answer", "is it still running in its terminal?", 0);
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  if (response.status === 401) refused();
  throw new Problem(body.error ?? `the server answered ${response.status}`, body.advice, response.status, body);
}

/// Reads a value.
export async function get(path) {
  return (await request(path, { headers: headers() })).json();
}

/// Reads a text, exactly.
export async function getText(path) {
  return (await request(path, { headers: headers() })).text();
}

/// Sends a value.
export async function send(path, value = {}) {
  const all = { ...headers(), "content-type": "application/json" };
  return (await request(path, { method: "POST", headers: all, body: JSON.stringify(value) })).json();
}
