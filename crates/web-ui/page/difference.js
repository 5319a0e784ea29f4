// Unified differences, hunk by hunk.

import { el, plural } from "./dom.js";

/// The most lines that are made into elements before a person asks for more.
export const EAGER_LINES = 3000;

/// Returns the hunks of a difference. `bounded` is a text that the server has cut.
export function difference(bounded, path = "") {
  const box = el("div", { class: "difference" });
  const lines = bounded.text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let hunk = null;
  let old = 0;
  let now = 0;
  let count = 0;
  const total = lines.filter((line) => line.startsWith("@@")).length;
  for (const line of lines) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (head) {
      count += 1;
      [old, now] = [Number(head[1]), Number(head[2])];
      const name = `Hunk ${count} of ${total}${path ? ` in ${path}` : ""}`;
      hunk = el("div", { class: "hunk", tabindex: "0", role: "group", "aria-label": name });
      hunk.append(el("div", { class: "hunk-head" }, `line ${now}${head[3]}`));
      box.append(hunk);
    } else if (!hunk) {
      // The names of the files stand above, and a text such as "binary" stays.
      const file = /^diff --git a\/(.*) b\//.exec(line);
      if (file) box.append(el("div", { class: "file-head" }, file[1]));
      else if (!/^(---|\+\+\+|index |new file|deleted file|similarity|rename )/.test(line)) box.append(el("div", { class: "plain-line" }, line));
    } else if (line.startsWith("diff --git ")) {
      hunk = null;
      box.append(el("div", { class: "file-head" }, /^diff --git a\/(.*) b\//.exec(line)?.[1] ?? line));
    } else {
      const sign = line[0] ?? " ";
      if (sign === "\\") {
        hunk.append(el("div", { class: "line note" }, el("span", { class: "numbers" }), line.slice(1)));
        continue;
      }
      const kind = sign === "+" ? "line added" : sign === "-" ? "line removed" : "line";
      const numbers = `${sign === "+" ? "" : old}`.padStart(5) + `${sign === "-" ? "" : now}`.padStart(6);
      if (sign !== "+") old += 1;
      if (sign !== "-") now += 1;
      hunk.append(
        el("div", { class: kind }, el("span", { class: "numbers", "aria-hidden": "true" }, numbers), el("span", { class: "sign" }, sign), el("span", { class: "code" }, line.slice(1) || " ")),
      );
    }
  }
  leftOut(box, bounded);
  return box;
}

/// Says what the server has cut.
export function leftOut(box, bounded) {
  const parts = [];
  if (bounded.linesLeftOut) parts.push(`${plural(bounded.linesLeftOut, "more line")} ${bounded.linesLeftOut === 1 ? "is" : "are"} left out`);
  if (bounded.linesCut) parts.push(`${plural(bounded.linesCut, "long line")} ${bounded.linesCut === 1 ? "is" : "are"} cut`);
  if (parts.length) box.append(el("p", { class: "left-out" }, parts.join("; ")));
}

/// A section that can be folded, whose content is made when it is opened first.
export function folded(head, make, open, props = {}) {
  const box = el("details", props, el("summary", {}, head));
  let made = false;
  const once = () => {
    if (made || !box.open) return;
    made = true;
    box.append(make());
  };
  box.addEventListener("toggle", once);
  box.open = open;
  once();
  return box;
}

export const lineCount = (bounded) => (bounded?.text ? bounded.text.split("\n").length : 0);
