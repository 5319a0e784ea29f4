// The plan of a reply: each block with what it would do.

import { el, fill, button, plural } from "./dom.js";
import { EAGER_LINES, difference, folded, leftOut, lineCount } from "./difference.js";

const NAMES = {
  CREATE_FILE: "Create", EDIT_FILE: "Edit", DELETE_FILE: "Delete", READ_FILE: "Read", RUN_COMMAND: "Run", STOP_PROCESS: "Stop",
  MESSAGE: "Message", DONE: "Done", PARSE_ERROR: "Problem",
};

export const kindName = (kind) => NAMES[kind] ?? kind;

/// Shows a plan, and returns it in a sentence.
export function showPlan(root, plan, { run, clear }) {
  const bad = plan.blocks.filter((block) => !block.success).length;
  const count = plan.blocks.length + plan.blocksLeftOut;
  const said = plan.refused ? "This reply is refused" : `${plural(count, "block")}${bad ? `, ${plural(bad, "problem")}` : ""}`;
  const canRun = !plan.refused;
  const actions = el("div", { class: "row actions" });
  if (canRun && plan.wouldExecute) actions.append(button(plan.held ? "Ask the model to go on" : "Run", () => run(), { kind: "primary", key: "l" }));
  if (canRun && !plan.wouldExecute && !plan.held) actions.append(button("Run it again", () => run({ again: true }), { kind: "primary" }));
  if (canRun && plan.held && plan.blocks.some((block) => block.success)) actions.append(button("Run the complete blocks", () => run({ runComplete: true })));
  actions.append(button("Clear", clear, { kind: "quiet" }));
  let budget = EAGER_LINES;
  fill(
    root,
    el("div", { class: "plan-head" }, el("h3", { tabindex: "-1" }, said), summary(plan), actions),
    !plan.wouldExecute && !plan.held && el("p", { class: "warn" }, "This text was run before: running it does nothing."),
    plan.held && el("p", { class: "warn" }, `Nothing of it would be done: ${plan.held}.`),
    plan.refused && refused(plan.refused),
    plan.repairs.length > 0 && el("p", { class: "repairs" }, el("strong", {}, "Read despite: "), plan.repairs.join(", ")),
    count === 0 && !plan.refused && el("p", { class: "warn" }, "No block was found in it. Running it tells the model how blocks are written."),
    el(
      "ol",
      { class: "blocks" },
      plan.blocks.map((block) => {
        const lines = lineCount(block.difference) + lineCount(block.text) + lineCount(block.output);
        const open = lines <= budget;
        if (open) budget -= lines;
        return blockItem(block, open);
      }),
    ),
    plan.blocksLeftOut > 0 && el("p", { class: "left-out" }, `${plural(plan.blocksLeftOut, "more block")} not shown here; running the reply runs them, too`),
    plan.changesBehindACommand && el("p", { class: "faint" }, "The differences are those of the files as they are now: a command before an edit may change them."),
  );
  return said;
}

function summary(plan) {
  const counts = new Map();
  for (const block of plan.blocks) counts.set(block.kind, (counts.get(block.kind) ?? 0) + 1);
  const parts = [...counts].map(([kind, count]) => `${count} × ${kindName(kind).toLowerCase()}`);
  return parts.length ? el("span", { class: "faint" }, parts.join(", ")) : null;
}

function refused(refusal) {
  return el("div", { class: "problem" }, el("p", { class: "bad-text" }, refusal.message), refusal.advice && el("p", {}, refusal.advice), refusal.excerpt && excerpt(refusal.excerpt));
}

function blockItem(block, open) {
  const mark = block.success ? el("span", { class: "kind" }, kindName(block.kind)) : el("span", { class: "kind bad" }, "Problem");
  const head = [mark, el("span", { class: "title" }, block.title), el("span", { class: "faint where" }, `line ${block.lines[0]}`)];
  const content = () => {
    const box = el("div", { class: "block-body" });
    if (block.obeyed) box.append(el("p", { class: "warn" }, `Other programs obey this file: ${block.obeyed}.`));
    if (!block.success) box.append(el("p", { class: "bad-text" }, block.summary));
    if (block.excerpt) box.append(excerpt(block.excerpt));
    if (block.text) {
      box.append(block.kind === "RUN_COMMAND" ? el("pre", { class: "command", tabindex: "0", "aria-label": "Command" }, block.text.text) : el("p", { class: "message-text" }, block.text.text));
      leftOut(box, block.text);
    }
    if (block.difference.text) box.append(difference(block.difference, block.title));
    if (!block.success && block.output.text) {
      box.append(el("pre", { class: "text", tabindex: "0", "aria-label": "Explanation" }, block.output.text));
      leftOut(box, block.output);
    }
    return box;
  };
  const isPlain = block.success && !block.obeyed && !block.text && !block.difference.text;
  if (isPlain) return el("li", { class: "block plain" }, head);
  return el("li", { class: block.success ? "block" : "block bad" }, folded(head, content, open));
}

/// The lines of a reply around a fault, with the faulty ones marked.
function excerpt({ firstLine, marked, text }) {
  const box = el("div", { class: "difference excerpt", tabindex: "0", role: "group", "aria-label": `Lines ${marked[0]} to ${marked[1]} of the reply` });
  text.text.split("\n").forEach((line, index) => {
    const number = firstLine + index;
    const isMarked = number >= marked[0] && number <= marked[1];
    box.append(el("div", { class: isMarked ? "line marked" : "line" }, el("span", { class: "numbers" }, String(number).padStart(5)), el("span", { class: "sign" }, isMarked ? "›" : " "), el("span", { class: "code" }, line || " ")));
  });
  leftOut(box, text);
  return box;
}
