// What came of a trial: each step with its real result, and all files that differ afterwards.

import { el, fill, plural } from "../dom.js";
import { folded, leftOut } from "../difference.js";
import { uncoloured } from "../visible.js";
import { changes } from "./steps.js";

/// Shows the last trial, and returns it in a sentence.
export function showResults(root, shown, draft) {
  const tried = shown.tried;
  root.hidden = !tried && !shown.isTrying;
  if (root.hidden) return "";
  if (shown.isTrying) {
    fill(root, el("h2", { tabindex: "-1" }, "Trying …"), el("p", { class: "faint" }, "The choice is carried out on a copy of the folder. Nothing of it is in the folder itself."));
    return "";
  }
  const bad = tried.outcomes.filter((outcome) => !outcome.success && !outcome.isLeftOut).length;
  const said = bad ? `Tried: ${plural(bad, "step")} failed` : "Tried: everything went well";
  const isSame = draft.isChoice(tried.selection);
  const isOpen = shown.state === "pending";
  fill(
    root,
    el("h2", { tabindex: "-1" }, said),
    isOpen && !isSame && el("p", { class: "warn" }, "Of another choice than the one that is made now."),
    isOpen && isSame && !tried.isHeld && el("p", { class: "warn" }, "The folder or the program has changed since: it has to be tried again before it lands."),
    isOpen && isSame && tried.isHeld && el("p", { class: "good-text" }, "Landing lands exactly this."),
    el("ol", { class: "outcomes" }, tried.outcomes.map((outcome) => item(outcome, shown))),
    el("h3", {}, `${plural(tried.files.length + tried.filesLeftOut, "file")} ${tried.files.length + tried.filesLeftOut === 1 ? "differs" : "differ"} afterwards`),
    changes(tried.files, tried.filesLeftOut),
  );
  return said;
}

function item(outcome, shown) {
  const step = shown.steps.find((one) => one.step === outcome.step);
  const title = step?.kind === "command" ? `$ ${step.command.text.split("\n")[0].slice(0, 120)}` : (step?.title ?? `step ${outcome.step + 1}`);
  const state = outcome.isLeftOut ? "none" : outcome.success ? "good" : "bad";
  const mark = { none: "○", good: "✓", bad: "✗" }[state];
  const time = outcome.durationMs === null ? "" : ` · ${outcome.durationMs < 1000 ? `${outcome.durationMs} ms` : `${(outcome.durationMs / 1000).toFixed(1)} s`}`;
  const summary = outcome.isLeftOut ? "left out" : `${outcome.summary.slice(0, 2000)}${time}`;
  const box = el("li", { class: `outcome ${state}` }, el("span", { class: "state", "aria-hidden": "true" }, mark), el("span", { class: "path" }, title), el("span", { class: state === "bad" ? "bad-text" : "faint" }, summary));
  if (outcome.output.text) {
    const count = outcome.output.text.split("\n").length + outcome.output.linesLeftOut;
    const make = () => {
      const output = el("div", {}, el("pre", { class: "output", tabindex: "0", "aria-label": `Output of ${title}` }, uncoloured(outcome.output.text)));
      leftOut(output, outcome.output);
      return output;
    };
    box.append(folded([plural(count, "line"), " of output"], make, state === "bad" || count <= 12));
  }
  return box;
}
