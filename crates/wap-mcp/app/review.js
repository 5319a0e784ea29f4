
"use strict";
// The review of a call. It talks to its host only, by JSON-RPC, and makes text nodes of everything that it is given.

const PAUSE_MS = 700;
const LONGEST_PAUSE_MS = 5000;
const element = (id) => document.getElementById(id);
const waiting = new Map();
let nextId = 1;
let call = null;
let shown = null;
let drawnAt = 0;
let isDeciding = false;
let isOver = false;
let hasResult = false;
let problem = "";
let pause = PAUSE_MS;

function send(message) {
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function request(method, params) {
  const id = nextId++;
  send({ id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

const tool = (name, given) => request("tools/call", { name, arguments: given });

const texts = (result) =>
  (Array.isArray(result?.content) ? result.content : [])
    .filter((part) => part?.type === "text" && typeof part.text === "string")
    .map((part) => part.text)
    .join("\n");

function say(text) {
  if (element("state").textContent !== text) element("state").textContent = text;
}

function make(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  if (text !== undefined) made.textContent = String(text);
  return made;
}

const KINDS = ["position", "added", "removed", "note", "command", "plain"];

function drawStep(step) {
  const box = make("section", "step");
  box.append(make("h3", "", step.title));
  let hunk = null;
  for (const line of step.lines) {
    if (!hunk || line.kind === "position") box.append((hunk = make("div", "hunk")));
    hunk.append(make("div", `line ${KINDS.includes(line.kind) ? line.kind : "plain"}`, line.text));
  }
  return box;
}

function draw(review) {
  const isSame = shown && JSON.stringify(shown.steps) === JSON.stringify(review.steps);
  shown = review;
  element("subject").textContent = review.subject;
  if (!isSame) {
    pause = PAUSE_MS;
    element("steps").replaceChildren(...review.steps.map(drawStep));
    drawnAt = performance.now();
  }
  const isPending = review.state === "pending";
  element("decision").hidden = !isPending;
  element("land").hidden = review.isCut;
  // What has just been drawn has not been read: a click that was meant for something else does nothing.
  const isFresh = performance.now() - drawnAt < PAUSE_MS / 2;
  for (const button of [element("land"), element("send-back")]) button.disabled = isDeciding || isFresh || !review.handle;
  element("review").ariaBusy = String(isDeciding);
  if (!isDeciding) say(`${problem} ${review.sentence}`.trim());
  isOver = !isPending && review.state !== "landing";
}

async function look() {
  const wanted = shown?.view ? { view: shown.view } : { tool: call.tool, arguments: call.arguments };
  const result = await tool("reviewShow", wanted);
  if (isDeciding) return;
  const review = result?.structuredContent;
  if (result?.isError || !review) return say(texts(result) || "The review cannot be shown.");
  if (review.state === "absent") {
    // The server has forgotten the name of what was shown: the call itself is looked for again.
    if (shown?.view) return void (shown.view = null);
    isOver = hasResult;
    if (hasResult) element("review").ariaBusy = "false";
    return say(hasResult ? "Nothing of this call waits for a review." : "Waiting for the call.");
  }
  draw(review);
}

async function keepLooking() {
  while (!isOver) {
    pause = Math.min(pause * 1.05, LONGEST_PAUSE_MS);
    try {
      await look();
    } catch (error) {
      say(String(error?.message ?? "The host does not pass calls on."));
    }
    if (!isOver) await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function decide(decision) {
  if (isDeciding || !shown?.handle) return;
  isDeciding = true;
  problem = "";
  pause = PAUSE_MS;
  draw(shown);
  say(decision === "land" ? "It is being carried out." : "It is being sent back.");
  const given = { handle: shown.handle, decision, comment: element("comment").value };
  try {
    const result = await tool("reviewDecide", given);
    if (result?.isError) problem = texts(result);
  } catch (error) {
    problem = String(error?.message ?? "The host does not pass calls on.");
  }
  isDeciding = false;
  // A handle counts once, whatever came of it: the next look brings another one.
  shown.handle = null;
  draw(shown);
}

function showResult(result) {
  hasResult = true;
  const text = texts(result);
  element("outcome").hidden = !text;
  element("answer").textContent = text;
}

function dress(context) {
  const root = document.documentElement;
  if (context?.theme === "light" || context?.theme === "dark") root.dataset.theme = context.theme;
  for (const [name, value] of Object.entries(context?.styles?.variables ?? {})) {
    if (/^--(color|font)-[a-z0-9-]+$/.test(name) && typeof value === "string") root.style.setProperty(name, value);
  }
}

const NOTIFICATIONS = {
  "ui/notifications/tool-input": (params) => {
    if (!call || call.arguments) return;
    call.arguments = params?.arguments ?? {};
    keepLooking();
  },
  "ui/notifications/tool-result": showResult,
  "ui/notifications/tool-cancelled": () => { hasResult = true; },
  "ui/notifications/host-context-changed": dress,
};

function receive(event) {
  const message = event.data;
  // Only the host: a page that got hold of this frame otherwise is nobody.
  if (event.source !== window.parent || message?.jsonrpc !== "2.0") return;
  if (typeof message.method === "string") {
    if (message.id === undefined) return void NOTIFICATIONS[message.method]?.(message.params);
    const isKnown = message.method === "ping" || message.method === "ui/resource-teardown";
    if (message.method === "ui/resource-teardown") isOver = true;
    return send(isKnown ? { id: message.id, result: {} } : { id: message.id, error: { code: -32601, message: "unknown method" } });
  }
  const waiter = waiting.get(message.id);
  waiting.delete(message.id);
  if (message.error) waiter?.reject(new Error(String(message.error.message)));
  else waiter?.resolve(message.result);
}

async function begin() {
  addEventListener("message", receive);
  element("land").addEventListener("click", () => decide("land"));
  element("send-back").addEventListener("click", () => decide("sendBack"));
  element("decision").addEventListener("submit", (event) => event.preventDefault());
  const answer = await request("ui/initialize", {
    appInfo: { name: "agentd-review", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline"] },
    protocolVersion: "2026-01-26",
  });
  dress(answer?.hostContext);
  call = { tool: answer?.hostContext?.toolInfo?.tool?.name ?? null, arguments: null };
  send({ method: "ui/notifications/initialized", params: {} });
  if (!answer?.hostCapabilities?.serverTools) return say("This host passes no calls on: use agentd review.");
  say("Waiting for the call.");
  new ResizeObserver(() => {
    const { width, height } = document.documentElement.getBoundingClientRect();
    send({ method: "ui/notifications/size-changed", params: { width: Math.ceil(width), height: Math.ceil(height) } });
  }).observe(document.documentElement);
}

begin();
