// The open proposal: its head, its differences, its comments and its results.

import { el, fill, notice, problem, say } from "../dom.js";
import { get } from "../server.js";
import { Draft } from "./draft.js";
import { Steps } from "./steps.js";
import { CommentForm, commentBox, unfinished } from "./comments.js";
import { Decisions } from "./decisions.js";
import { showResults } from "./results.js";
import { tree } from "./tree.js";
import { showHead } from "./head.js";

const PREFERENCES = "agentd-review";

export class ProposalPanel {
  constructor(view) {
    this.view = view;
    this.decisions = new Decisions(this);
    this.head = el("section", { class: "card review-head", "aria-label": "Proposal" });
    this.differences = el("div", { class: "changes-of" });
    this.orphans = el("section", { class: "card", hidden: true });
    this.results = el("section", { class: "card results", "aria-label": "Results of the trial", hidden: true });
    this.summary = el("textarea", { id: "summary", rows: "2" });
    this.word = el("section", { class: "card" }, el("label", { for: "summary" }, "A comment on everything, for the model"), this.summary);
    this.summary.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.saySummary(), 400);
    });
    this.summary.addEventListener("change", () => this.saySummary());
    this.steps = new Steps(this.differences, { wantsAll: (step) => this.whole(step).catch(problem), comments: (unit) => this.begin(unit), chosen: () => this.chosen() });
    this.look = { isSideBySide: false, order: "steps", ...JSON.parse(localStorage.getItem(PREFERENCES) ?? "{}") };
    this.differences.addEventListener("focusin", (event) => (this.current = event.target.closest(".hunk")?.unit.key ?? this.current));
    this.differences.addEventListener("click", (event) => this.clicked(event));
    this.differences.addEventListener("wheel", () => (this.isUnread = false), { passive: true });
    const onHunk = (target) => !target.closest("button, summary, a, input, select, pre.command");
    this.keys = {
      j: { name: "next hunk", run: () => this.move(1) },
      k: { name: "previous hunk", run: () => this.move(-1) },
      " ": { name: "take the hunk, or leave it out", run: () => this.toggle(), unless: (target) => !onHunk(target) },
      n: { name: "comment on the hunk", run: () => this.begin() },
      t: { name: "try the choice", run: () => this.decisions.tryOut().catch(problem) },
      l: { name: "land the choice", run: () => this.decisions.land().catch(problem) },
      b: { name: "send everything back, with the comments", run: () => this.decisions.sendBack().catch(problem) },
      o: { name: "order: as carried out, or for reading", run: () => this.set({ order: this.look.order === "steps" ? "files" : "steps" }) },
      s: { name: "side by side", run: () => this.set({ isSideBySide: !this.look.isSideBySide }) },
      w: { name: "comment on everything", run: () => this.isOpen() && this.summary.focus() },
    };
  }

  isOpen() {
    return this.shown?.state === "pending";
  }

  isBusy() {
    return Boolean(this.draft?.isBusy() || this.form || document.activeElement === this.summary);
  }

  async open(id) {
    if (this.id !== id) this.close();
    this.id = id;
    await this.refresh();
  }

  close() {
    if (this.draft && this.isOpen()) this.saySummary();
    Object.assign(this, { id: null, shown: null, draft: null, form: null, current: null });
  }

  /// Reads the proposal anew, and says if the folder has changed below it.
  async refresh() {
    const { id, draft } = this;
    const changes = draft?.changes;
    const shown = await get(`review/${id}`);
    if (this.id !== id) return;
    const old = this.shown;
    this.shown = shown;
    const isNew = !this.draft;
    this.draft ??= new Draft(id, { changed: () => this.chosen(true), refused: (error) => this.refused(error) });
    // What is on its way to the server, or arrived there meanwhile, is newer than its answer. Another answer follows.
    if (isNew || (!this.draft.isBusy() && this.draft.changes === changes && shown.draft.revision >= this.draft.revision)) {
      this.draft.load(shown.draft, shown.positions);
      if (document.activeElement !== this.summary) this.summary.value = shown.draft.summary;
    }
    const hasChanged = old && old.mark !== shown.mark;
    // A key that was pressed for the steps before must not land these.
    if (hasChanged && this.isOpen()) this.isUnread = true;
    if (hasChanged && this.isOpen() && !shown.isTried) {
      notice("The folder has changed", { advice: "The proposal was planned again on the files as they are now. Comments are where their lines are; those whose lines are gone are outdated." });
      say("The folder has changed: planned again");
    }
    if (isNew) fill(this.view.work, this.head, el("div", { class: "review-columns" }, el("div", { class: "work" }, this.orphans, this.differences, this.word), this.results));
    if (isNew || hasChanged || old.state !== shown.state) this.draw();
    else this.chosen(true);
  }

  /// Draws everything. The focus and a comment that is being written stay.
  draw() {
    if (!this.shown) return;
    const hadFocus = this.differences.contains(document.activeElement);
    const isSideBySide = this.look.isSideBySide && !matchMedia("(max-width: 900px)").matches;
    this.form = null;
    this.steps.show(this.shown, this.draft, { isSideBySide, order: this.look.order });
    this.chosen(true);
    const writing = this.isOpen() && unfinished(this.id);
    if (writing) this.write(writing);
    else if (hadFocus) this.focusCurrent();
  }

  /// Shows the choice, the comments and the results, after any of them has changed.
  chosen(withComments) {
    if (!this.shown || !this.draft) return;
    this.steps.choice();
    if (withComments) this.steps.comments();
    const orphans = this.steps.orphans();
    this.orphans.hidden = orphans.length === 0;
    fill(this.orphans, el("h2", {}, "Outdated"), orphans.map((index) => commentBox(this.draft, index, { quotes: true, isOpen: this.isOpen() })));
    fill(this.view.files, el("h2", {}, "Files"), tree(this.shown, this.draft, (step) => this.goTo(step)));
    this.said = showResults(this.results, this.shown, this.draft);
    showHead(this);
    this.word.hidden = !this.isOpen();
  }

  set(look) {
    Object.assign(this.look, look);
    localStorage.setItem(PREFERENCES, JSON.stringify(this.look));
    this.draw();
  }

  trying(is) {
    this.shown.isTrying = is;
    this.chosen();
  }

  async settled() {
    clearTimeout(this.timer);
    await this.draft.say(this.summary.value);
    await this.draft.settled();
  }

  saySummary() {
    if (this.draft && this.isOpen()) this.draft.say(this.summary.value).catch(() => {});
  }

  /// Shows why a request was refused, and goes on with what the server has.
  async refused(error) {
    if (error.isSaid) return;
    const { draft } = error.body ?? {};
    if (draft && this.draft) {
      this.draft.saving = null;
      this.draft.load(draft, draft.comments.map(() => "outdated"));
      this.summary.value = draft.summary;
    }
    problem(error);
    if (this.id && error.status) await this.refresh().catch(() => {});
    this.isUnread = false;
  }

  /// Shows all lines of a step.
  async whole(step) {
    const whole = await get(`review/${this.id}/steps/${step.step}`);
    this.shown.steps = this.shown.steps.map((one) => (one.step === whole.step ? { ...whole, since: one.since } : one));
    this.draw();
  }

  unit() {
    return this.steps.units.find((unit) => unit.key === this.current && unit.node.offsetParent);
  }

  move(by) {
    this.isUnread = false;
    const seen = this.steps.units.filter((unit) => unit.node.offsetParent);
    if (seen.length === 0) return;
    const index = seen.findIndex((unit) => unit.key === this.current);
    const next = index < 0 ? (by > 0 ? 0 : seen.length - 1) : Math.min(Math.max(index + by, 0), seen.length - 1);
    this.current = seen[next].key;
    this.focusCurrent();
  }

  focusCurrent() {
    const unit = this.unit();
    unit?.node.focus({ preventScroll: true });
    unit?.node.scrollIntoView({ block: "nearest" });
  }

  focusHead() {
    this.head.querySelector("h1")?.focus();
  }

  goTo(step) {
    this.isUnread = false;
    const { box, body, toggle } = this.steps.boxes.get(step.step);
    if (body.hidden) toggle.click();
    this.current = this.steps.units.find((unit) => unit.step.step === step.step)?.key;
    box.scrollIntoView({ block: "start" });
    this.unit()?.node.focus({ preventScroll: true });
  }

  toggle() {
    const unit = this.unit();
    if (!unit) return this.move(1);
    if (!this.isOpen()) return;
    const isTaken = !this.draft.takes(unit.step, unit.hunk);
    this.steps.set(unit, isTaken);
    say(isTaken ? "Taken" : "Left out");
  }

  /// Begins a comment on the hunk that has the focus.
  begin(wanted) {
    if (!this.isOpen()) return;
    if (wanted) this.current = wanted.key;
    const unit = this.unit() ?? (this.move(1), this.unit());
    if (!unit) return;
    const { step, hunk } = unit;
    if (!hunk) return this.write({ step: step.step, title: step.title, key: unit.key });
    const [side, first, count] = hunk.newCount ? ["after", hunk.newFirst, hunk.newCount] : ["before", hunk.oldFirst, hunk.oldCount];
    this.write({ step: step.step, side, first, last: first + Math.min(count, 200) - 1, title: step.path, key: unit.key });
  }

  clicked(event) {
    this.isUnread = false;
    const numbers = event.target.closest("button.numbers");
    const unit = event.target.closest(".hunk")?.unit;
    if (!numbers || !unit || !this.isOpen()) return;
    const [side, line] = [numbers.dataset.side, Number(numbers.dataset.line)];
    if (event.shiftKey && this.form?.extend(side, line)) return;
    this.current = unit.key;
    this.write({ step: unit.step.step, side, first: line, last: line, title: unit.step.path, key: unit.key });
  }

  /// Opens the box for a comment, at its lines.
  write(place) {
    const text = place.text ?? this.form?.text.value;
    this.form?.root.remove();
    const close = () => {
      this.form = null;
      this.focusCurrent();
    };
    this.form = new CommentForm(this.draft, { ...place, text }, { closed: close });
    this.current = place.key;
    const row = place.first !== undefined && this.steps.row(place.step, place.side, place.last);
    const home = row || this.unit()?.node.firstElementChild;
    if (home) home.after(this.form.root);
    else (this.unit()?.node ?? this.differences).prepend(this.form.root);
    this.form.text.focus();
  }
}
