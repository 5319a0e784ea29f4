// The way in: a code is exchanged for a cookie and a key.

import { el, fill, button } from "./dom.js";
import { send, keepKey } from "./server.js";

/// Takes the code out of the address, and exchanges it. Returns the problem, if there is one.
export async function enterByAddress() {
  const match = /^#code=([0-9a-f]+)$/.exec(location.hash);
  if (!match) return null;
  // A reload must not send it again, and no one who looks at the address later sees it.
  history.replaceState(null, "", location.pathname + "#/loop");
  return enter(match[1]);
}

async function enter(text) {
  const code = text.trim().replace(/^.*#code=/, "");
  try {
    const { key } = await send("enter", { code });
    keepKey(key);
    return null;
  } catch (error) {
    return error;
  }
}

/// Shows the box for a code. `then` is called with access.
export function showEntry(root, problem, then) {
  const input = el("input", { id: "code", autocomplete: "off", spellcheck: "false", "aria-describedby": "code-problem" });
  const text = el("p", { id: "code-problem", class: "bad-text", role: "alert" }, problem?.message);
  const go = async () => {
    const failed = await enter(input.value);
    if (failed) {
      fill(text, failed.message);
      input.select();
    } else then();
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && go());
  fill(
    root,
    el(
      "section",
      { class: "entry card" },
      el("h1", {}, "Open the page with its address"),
      el("p", {}, "This browser has no access yet. Run ", el("code", {}, "agentd ui"), " in the folder of code, and open the address that it prints. It works once."),
      el("label", { for: "code" }, "Or put the address or its code here"),
      el("div", { class: "row" }, input, button("Enter", go, { kind: "primary" })),
      text,
    ),
  );
  input.focus();
}
