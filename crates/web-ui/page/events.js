// Events of the server, with resume after a lost connection. Read with fetch, because an EventSource cannot send the key.

import { headers, refused } from "./server.js";

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5000;

/// The time without any sign of life after which a connection is given up.
const SILENCE = 40000;

let lastId = "";

/// Sets the event behind which to begin, unless some were read already: what the page has read is not older than it.
export function beginBehind(id) {
  lastId ||= id;
}

let wake = () => {};

/// Reads events for as long as the page is open. `onState` is called with "open" or "lost", or with "refused" by a server that does
/// not know this browser: it is tried again after `hurry` only.
export async function follow(onEvent, onState) {
  let pause = FIRST_PAUSE;
  for (;;) {
    let isRefused = false;
    try {
      await read(onEvent, () => {
        pause = FIRST_PAUSE;
        onState("open");
      });
    } catch (error) {
      // Otherwise the connection is gone; why does not matter.
      isRefused = error.message === "401";
    }
    onState(isRefused ? "refused" : "lost");
    if (isRefused) refused();
    await new Promise((resolve) => {
      const timer = isRefused ? null : setTimeout(resolve, pause);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

/// Tries again at once.
export function hurry() {
  wake();
}

addEventListener("online", hurry);
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && hurry());

async function read(onEvent, onOpen) {
  const stop = new AbortController();
  let silence = setTimeout(() => stop.abort(), SILENCE);
  const all = { ...headers(), ...(lastId && { "last-event-id": lastId }) };
  try {
    const response = await fetch("/ui/api/events", { headers: all, cache: "no-store", signal: stop.signal });
    if (!response.ok) throw new Error(String(response.status));
    onOpen();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffer = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      silence = setTimeout(() => stop.abort(), SILENCE);
      buffer += value;
      let end;
      while ((end = buffer.indexOf("\n\n")) >= 0) {
        frame(buffer.slice(0, end), onEvent);
        buffer = buffer.slice(end + 2);
      }
    }
  } finally {
    clearTimeout(silence);
  }
}

function frame(text, onEvent) {
  let id = "";
  let data = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    else if (line.startsWith("data: ")) data = line.slice(6);
  }
  if (id) lastId = id;
  if (data) onEvent(JSON.parse(data), Number(id.split("-")[1] ?? 0));
}
