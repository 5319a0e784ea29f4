// The files of a proposal as a tree, with their counts.

import { el, plural } from "../dom.js";
import { counts } from "./steps.js";

const MARKS = { all: "●", some: "◐", none: "○" };
const WORDS = { all: "taken", some: "taken in part", none: "left out" };

/// Returns the tree. `go(step)` goes to the first step of a file.
export function tree(shown, draft, go) {
  const root = { folders: new Map(), files: new Map() };
  const commands = [];
  for (const step of shown.steps) {
    if (step.kind === "command") {
      commands.push(step);
      continue;
    }
    const parts = step.path.split("/");
    const name = parts.pop();
    let place = root;
    for (const part of parts) {
      if (!place.folders.has(part)) place.folders.set(part, { folders: new Map(), files: new Map() });
      place = place.folders.get(part);
    }
    place.files.set(name, [...(place.files.get(name) ?? []), step]);
  }
  return el("div", { class: "tree" }, list(root, draft, go), commands.length > 0 && el("ul", {}, commands.map((step) => entry([step], `$ ${step.command.text.split("\n")[0].slice(0, 80)}`, draft, go))));
}

function list(place, draft, go) {
  const folders = [...place.folders].map(([name, folder]) => {
    // Folders with nothing but one folder are one line.
    let [title, inner] = [name, folder];
    while (inner.files.size === 0 && inner.folders.size === 1) {
      const [[next, only]] = inner.folders;
      [title, inner] = [`${title}/${next}`, only];
    }
    return el("li", {}, el("span", { class: "folder path" }, `${title}/`), list(inner, draft, go));
  });
  const files = [...place.files].map(([name, steps]) => entry(steps, name, draft, go));
  return el("ul", {}, folders, files);
}

function entry(steps, name, draft, go) {
  const taken = new Set(steps.map((step) => draft.taken(step)));
  const state = taken.size === 1 ? [...taken][0] : "some";
  const comments = draft.comments.filter((comment) => steps.some((step) => step.step === comment.step)).length;
  const sum = { linesAdded: 0, linesRemoved: 0 };
  for (const step of steps) {
    sum.linesAdded += step.linesAdded ?? 0;
    sum.linesRemoved += step.linesRemoved ?? 0;
  }
  const link = el(
    "button",
    { type: "button", class: "entry-link" },
    el("span", { class: `state ${state}`, "aria-hidden": "true" }, MARKS[state]),
    el("span", { class: "path" }, name),
    el("span", { class: "hidden-text" }, `, ${WORDS[state]}`),
    comments > 0 && el("span", { class: "badge" }, comments, el("span", { class: "hidden-text" }, ` ${plural(comments, "comment").split(" ")[1]}`)),
    steps[0].kind !== "command" && counts(sum),
  );
  link.addEventListener("click", () => go(steps[0]));
  return el("li", {}, link);
}
