// The steps of a proposal: files hunk by hunk, and commands. Each can be taken or left out.

import { el, append, button, number, plural } from "../dom.js";
import { folded } from "../difference.js";
import { hunkRows, isCut } from "./lines.js";
import { commentBox } from "./comments.js";

/// The hunks whose lines are made at once; those behind follow while the browser is idle.
const EAGER = 30;
const AT_ONCE = 20;

const KINDS = { create: "Create", delete: "Delete", change: "Change", command: "Run" };

export class Steps {
  /// `on` has the actions: `wantsAll(step)`, `comments(unit)`, `chosen()`.
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.opened = new Set();
  }

  show(shown, draft, { isSideBySide, order }) {
    Object.assign(this, { shown, draft, isSideBySide });
    this.isOpen = shown.state === "pending";
    this.rows = new Map();
    this.units = [];
    this.boxes = new Map();
    this.unmade = [];
    this.turn = (this.turn ?? 0) + 1;
    const steps = order === "files" ? [...shown.steps].sort((a, b) => a.position - b.position) : shown.steps;
    this.root.replaceChildren();
    append(this.root, steps.map((step) => this.step(step)));
    if (shown.stepsLeftOut) append(this.root, [el("p", { class: "left-out" }, `${plural(shown.stepsLeftOut, "more step")} not shown here; landing carries them out, too`)]);
    this.unmade.splice(0, EAGER).forEach((make) => make());
    this.later(this.turn);
    this.choice();
    this.comments();
  }

  /// Makes the lines of more hunks.
  later(turn) {
    if (this.unmade.length === 0) return;
    setTimeout(() => {
      if (turn !== this.turn) return;
      this.unmade.splice(0, AT_ONCE).forEach((make) => make());
      if (this.unmade.length === 0) this.comments();
      this.later(turn);
    });
  }

  step(step) {
    const box = el("section", { class: "change", "aria-label": step.title, tabindex: "-1" });
    const isFile = step.kind !== "command";
    const all = el("input", { type: "checkbox", disabled: !this.isOpen });
    all.addEventListener("change", () => this.set({ step }, all.checked));
    const name = isFile ? step.path : step.command.text.split("\n")[0];
    const body = el("div", { class: "change-body" });
    const make = () => {
      if (body.childElementCount === 0) this.body(step, body);
    };
    const isFolded = Boolean(step.folded) && !this.opened.has(step.step);
    const toggle = el("button", { type: "button", class: "quiet small" });
    const named = () => {
      toggle.textContent = body.hidden ? "Show" : "Fold";
      toggle.setAttribute("aria-label", `${toggle.textContent} ${name}`);
      toggle.setAttribute("aria-expanded", String(!body.hidden));
    };
    toggle.addEventListener("click", () => {
      body.hidden = !body.hidden;
      if (body.hidden) this.opened.delete(step.step);
      else this.opened.add(step.step);
      named();
      const waits = !body.hidden && body.childElementCount === 0;
      make();
      if (!waits) return;
      this.unmade.splice(0).forEach((one) => one());
      this.choice();
      this.comments();
    });
    body.hidden = isFolded;
    named();
    const head = el(
      "div",
      { class: "change-head" },
      el("label", { class: "take" }, all, el("span", { class: "kind" }, KINDS[step.kind]), el("span", { class: "title" }, name.slice(0, 300))),
      isFile && counts(step),
      el("span", { class: "mark faint" }),
      step.folded && el("span", { class: "tag" }, step.folded),
      step.hunks?.some(isCut) && button("All of it", () => this.on.wantsAll(step), { kind: "quiet small", label: `All of it: the lines of ${name}` }),
      toggle,
    );
    const elsewhere = el("div", { class: "elsewhere" });
    append(box, [
      head,
      isFile && step.note && el("p", { class: "warn" }, step.note),
      step.problem && el("p", { class: "bad-text" }, `It would fail: ${step.problem}`),
      news(step, shownSince(this.shown)),
      elsewhere,
      body,
    ]);
    this.boxes.set(step.step, { box, all, elsewhere, body, mark: head.querySelector(".mark"), toggle });
    if (!isFolded) make();
    return box;
  }

  body(step, body) {
    const total = step.hunks?.length ?? 0;
    if (step.kind === "command") return append(body, [this.command(step)]);
    if (total === 0) return append(body, [this.unit(step, null, el("p", { class: "plain-line" }, step.note ?? "There is nothing to show."), step.title)]);
    step.hunks.forEach((hunk, index) => {
      const name = hunk.id ? `Hunk ${index + 1} of ${total} in ${step.path}` : step.title;
      const unit = this.unit(step, hunk.id ? hunk : null, null, name);
      const lines = (side, count, first) => (count ? `${side} ${first}${count > 1 ? `–${first + count - 1}` : ""}` : "");
      const where = [lines("old", hunk.oldCount, hunk.oldFirst), lines("new", hunk.newCount, hunk.newFirst)].filter(Boolean).join(", ");
      const take = hunk.id && el("input", { type: "checkbox", disabled: !this.isOpen, "aria-label": `Take hunk ${index + 1} of ${total} in ${step.path}` });
      if (take) {
        take.addEventListener("change", () => this.set(unit.unit, take.checked));
        unit.unit.take = take;
      }
      unit.append(el("div", { class: "hunk-head" }, take || "", el("span", {}, where), this.commentButton(unit.unit)));
      this.unmade.push(() => {
        unit.append(hunkRows(step.path, hunk, this.isSideBySide, (row, side, line) => this.rows.set(`${step.step}:${side}:${line}`, row)));
      });
      body.append(unit);
    });
  }

  command(step) {
    const content = [
      el("pre", { class: "command", tabindex: "0", "aria-label": "Command" }, step.command.text),
      step.folder && el("p", { class: "faint" }, `in ${step.folder}`),
      step.background && el("p", { class: "faint" }, `in the background, as ${step.background}`),
      step.surroundings.length > 0 && el("ul", { class: "surroundings", "aria-label": "Variables" }, step.surroundings.map((line) => el("li", {}, line))),
      step.surroundingsLeftOut > 0 && el("p", { class: "left-out" }, `${plural(step.surroundingsLeftOut, "more variable")} not shown here; landing sets them, too`),
    ];
    if (step.effects.length) {
      content.push(folded([`changed ${plural(step.effects.length + step.effectsLeftOut, "file")}`], () => changes(step.effects, step.effectsLeftOut), false));
    }
    const unit = this.unit(step, null, content, step.title);
    if (this.isOpen) unit.append(el("div", { class: "hunk-head" }, this.commentButton(unit.unit)));
    return unit;
  }

  commentButton(unit) {
    return this.isOpen && button("Comment", () => this.on.comments(unit), { kind: "quiet small", label: `Comment on ${unit.name}` });
  }

  /// A part that is taken or left out as one.
  unit(step, hunk, content, name) {
    const node = el("div", { class: "hunk", tabindex: "0", role: "group", "aria-label": name }, content ?? []);
    node.unit = { step, hunk, node, name, key: `${step.step}:${hunk?.id ?? ""}` };
    this.units.push(node.unit);
    return node;
  }

  set({ step, hunk }, isTaken) {
    const saved = hunk ? this.draft.takeHunk(step, hunk, isTaken) : this.draft.takeStep(step, isTaken);
    this.on.chosen();
    saved.catch(() => {});
  }

  /// Shows what is taken.
  choice() {
    for (const step of this.shown.steps) {
      const taken = this.draft.taken(step);
      const { box, all, mark } = this.boxes.get(step.step);
      [all.checked, all.indeterminate] = [taken !== "none", taken === "some"];
      box.classList.toggle("left-out-step", taken === "none");
      mark.textContent = taken === "all" ? "" : taken === "none" ? "left out" : `${this.draft.selection[step.step].hunks.length} of ${number(step.hunks.length)} taken`;
    }
    for (const unit of this.units) {
      const isTaken = this.draft.takes(unit.step, unit.hunk);
      if (unit.take) unit.take.checked = isTaken;
      unit.node.classList.toggle("not-taken", !isTaken);
      unit.node.setAttribute("aria-label", isTaken ? unit.name : `${unit.name}, left out`);
    }
  }

  /// Shows the comments where they belong.
  comments() {
    // A comment that is being edited stays as it is.
    if (this.root.querySelector("article.comment textarea")) return;
    this.root.querySelectorAll(".comment:not(.form), .outdated").forEach((node) => node.remove());
    this.draft.comments.forEach((comment, index) => {
      const position = this.draft.positions[index];
      const place = this.boxes.get(comment.step);
      if (!place) return;
      const row = position.lines && this.rows.get(`${comment.step}:${comment.side}:${position.lines.last}`);
      const box = commentBox(this.draft, index, { quotes: !row, isOpen: this.isOpen });
      if (row && !place.body.hidden) {
        let last = row;
        while (last.nextElementSibling?.classList.contains("comment")) last = last.nextElementSibling;
        return last.after(box);
      }
      if (position === "outdated") {
        const list = place.elsewhere.querySelector(".outdated") ?? place.elsewhere.appendChild(el("div", { class: "outdated" }, el("h3", {}, "Outdated")));
        return list.append(box);
      }
      place.elsewhere.append(box);
    });
  }

  /// Returns the comments whose step is gone.
  orphans() {
    return this.draft.comments.map((_, index) => index).filter((index) => !this.boxes.has(this.draft.comments[index].step));
  }

  row(step, side, line) {
    return this.rows.get(`${step}:${side}:${line}`);
  }
}

const shownSince = (shown) => shown.hasSince && shown.state === "pending";

/// What is new in a step since the last review, where something was sent back.
function news(step, hasSince) {
  if (!hasSince) return false;
  if (!step.since) return el("p", { class: "since faint" }, "New since your last review");
  const { review, changed } = step.since;
  if (!changed) return el("p", { class: "since faint" }, `The same as at your review of proposal ${review}`);
  return el("div", { class: "since" }, folded([`Since your review of proposal ${review} `, counts(changed)], () => fileDifference(changed), false));
}

export function counts(file) {
  return el("span", { class: "counts" }, el("span", { class: "more" }, `+${number(file.linesAdded)}`), " ", el("span", { class: "less" }, `−${number(file.linesRemoved)}`));
}

/// The difference of a file that is looked at only.
function fileDifference(file) {
  return el("div", { class: "difference", tabindex: "0", role: "group", "aria-label": file.path }, file.note && el("p", { class: "plain-line" }, file.note), file.hunks.map((hunk) => hunkRows(file.path, hunk, false)));
}

/// The differences of files that are looked at only.
export function changes(files, leftOut) {
  return el(
    "div",
    {},
    files.map((file) =>
      folded(
        [el("span", { class: "path" }, file.path), " ", Boolean(file.linesAdded || file.linesRemoved) && counts(file)],
        () => fileDifference(file),
        false,
        { class: "file" },
      ),
    ),
    leftOut > 0 && el("p", { class: "left-out" }, `${plural(leftOut, "more file")} not shown`),
  );
}
