// The lines of a hunk, one below the other or side by side.

import { el, plural } from "../dom.js";
import { colours } from "./tokens.js";

function textLines(text) {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/// Returns the rows of a hunk. `onRow` gets each row with the side and the number of each line in it.
export function hunkRows(path, hunk, isSideBySide, onRow) {
  const [before, after] = [colours(path), colours(path)];
  const old = textLines(hunk.old.text);
  const now = textLines(hunk.new.text);
  const box = el("div", { class: isSideBySide ? "lines beside" : "lines" });
  const put = (row, ...places) => {
    places.forEach(([side, number]) => onRow?.(row, side, number));
    box.append(row);
  };
  const context = (line, back, forth) => {
    const shown = after(line);
    const same = before(line);
    const row = isSideBySide
      ? el("div", { class: "pair" }, cell("", "before", back, same), cell("", "after", forth, shown))
      : el("div", { class: "line" }, numbers("after", forth, back, forth), sign(" "), code(shown));
    put(row, ["before", back], ["after", forth]);
  };
  hunk.ahead.forEach((line, index) => context(line, hunk.oldFirst - hunk.ahead.length + index, hunk.newFirst - hunk.ahead.length + index));
  if (isSideBySide) {
    for (let index = 0; index < Math.max(old.length, now.length); index += 1) {
      const [back, forth] = [hunk.oldFirst + index, hunk.newFirst + index];
      const left = index < old.length ? cell("removed", "before", back, before(old[index])) : cell("none");
      const right = index < now.length ? cell("added", "after", forth, after(now[index])) : cell("none");
      const places = [index < old.length && ["before", back], index < now.length && ["after", forth]].filter(Boolean);
      put(el("div", { class: "pair" }, left, right), ...places);
    }
  } else {
    old.forEach((line, index) => {
      const back = hunk.oldFirst + index;
      put(el("div", { class: "line removed" }, numbers("before", back, back, ""), sign("-"), code(before(line))), ["before", back]);
    });
    now.forEach((line, index) => {
      const forth = hunk.newFirst + index;
      put(el("div", { class: "line added" }, numbers("after", forth, "", forth), sign("+"), code(after(line))), ["after", forth]);
    });
  }
  hunk.behind.forEach((line, index) => context(line, hunk.oldFirst + hunk.oldCount + index, hunk.newFirst + hunk.newCount + index));
  for (const [side, word] of [[hunk.old, "removed"], [hunk.new, "new"]]) {
    const parts = [];
    if (side.linesLeftOut) parts.push(`${plural(side.linesLeftOut, `more ${word} line`)} not shown`);
    if (side.linesCut) parts.push(`${plural(side.linesCut, `long ${word} line`)} cut`);
    if (parts.length) box.append(el("p", { class: "left-out" }, parts.join("; ")));
  }
  return box;
}

export const isCut = (hunk) => Boolean(hunk.old.linesLeftOut || hunk.new.linesLeftOut);

function cell(kind, side, number, nodes) {
  if (kind === "none") return el("div", { class: "line none" });
  const mark = kind === "added" ? "+" : kind === "removed" ? "-" : " ";
  return el("div", { class: `line ${kind}` }, numbers(side, number, number, null), sign(mark), code(nodes));
}

/// The numbers of a line are a button: a click begins a comment. They are no text, so that copied lines are code alone.
function numbers(side, number, back, forth) {
  const text = forth === null ? `${back}`.padStart(5) : `${back}`.padStart(5) + `${forth}`.padStart(6);
  return el("button", { type: "button", class: "numbers", tabindex: "-1", "data-side": side, "data-line": number, "data-shown": text, "aria-label": `Comment on ${side === "before" ? "old " : ""}line ${number}` });
}

const sign = (text) => el("span", { class: "sign" }, text);
const code = (nodes) => el("span", { class: "code" }, nodes.length && nodes.some((node) => node !== "") ? nodes : " ");
