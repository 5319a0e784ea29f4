// The history: what every conversation has done, differences, undo and redo.

import { el, fill, append, button, notice, plural, problem, say, time } from "./dom.js";
import { get, send } from "./server.js";
import { EAGER_LINES, difference, folded, lineCount } from "./difference.js";
import { confirmed } from "./keys.js";
import { visible } from "./visible.js";

export class HistoryView {
  constructor(app) {
    this.app = app;
    this.title = "History";
    this.name = "history";
    this.list = el("ol", { class: "timeline", "aria-label": "Runs, newest first" });
    this.more = el("div", {});
    this.panel = el("section", { class: "card", "aria-labelledby": "compared-title", hidden: true });
    this.from = el("input", { id: "from", type: "number", min: "1", placeholder: "first" });
    this.to = el("input", { id: "to", type: "number", min: "1", placeholder: "last" });
    this.file = el("input", { id: "file", placeholder: "path of a file", spellcheck: "false", autocomplete: "off" });
    this.file.addEventListener("keydown", (event) => event.key === "Enter" && this.lines(1));
    for (const input of [this.from, this.to]) input.addEventListener("keydown", (event) => event.key === "Enter" && this.compare());
    this.root = el(
      "div",
      { class: "narrow" },
      el("h1", {}, "History"),
      el(
        "div",
        { class: "row compare" },
        el("label", { for: "from" }, "Difference of changes"),
        this.from,
        el("label", { for: "to" }, "to"),
        this.to,
        button("Show", () => this.compare()),
      ),
      el("div", { class: "row lines-of" }, el("label", { for: "file" }, "Who wrote the lines of"), this.file, button("Show", () => this.lines(1), { label: "Show who wrote the lines" })),
      this.panel,
      this.list,
      this.more,
    );
    this.keys = {
      u: { name: "undo the newest run that changed something", run: () => this.undoNewest() },
      b: { name: "who wrote the lines of a file", run: () => this.file.focus() },
      d: { name: "difference of two changes", run: () => this.from.focus() },
    };
  }

  async open([what]) {
    await this.refresh();
    if (what === "undo") {
      history.replaceState(null, "", "#/history");
      await this.undoNewest();
    }
  }

  async refresh() {
    const focused = this.list.contains(document.activeElement);
    const page = await get(`history?limit=${Math.min(Math.max(this.list.childElementCount, 30), 50)}`);
    this.runs = page.runs;
    fill(this.list, page.runs.map((run) => this.entry(run)));
    if (page.runs.length === 0) fill(this.list, el("li", { class: "faint" }, "Nothing was done here yet."));
    this.showMore(page.hasMore);
    if (focused) document.getElementById("main").focus({ preventScroll: true });
  }

  showMore(hasMore) {
    fill(this.more, hasMore && button("Show earlier runs", () => this.earlier().catch(problem), { kind: "quiet wide" }));
  }

  async earlier() {
    const page = await get(`history?before=${this.runs.at(-1).run}`);
    this.runs.push(...page.runs);
    append(this.list, page.runs.map((run) => this.entry(run)));
    this.showMore(page.hasMore);
  }

  entry(run) {
    const changes = run.steps.flatMap((step) => step.changes);
    const undoes = changes.find((change) => change.undoes)?.undoes;
    const inForce = changes.some((change) => !change.undoneBy && change.state !== "conflicted" && !change.path.endsWith("/"));
    const isSession = /^[0-9a-f]{8}$/.test(run.conversation);
    const who = isSession ? el("a", { href: `#/loop/${run.conversation}` }, run.conversation) : el("span", {}, run.conversation);
    const what = undoes ? "undo" : run.sequence ? `reply to message ${run.sequence}` : "call";
    const actions = el("div", { class: "row" });
    if (changes.length) actions.append(button("Difference", () => this.show(run), { kind: "small", label: `Difference of run ${run.run}` }));
    if (changes.length && inForce) actions.append(button(undoes ? "Redo" : "Undo", () => this.undo(run, Boolean(undoes)), { kind: "small", label: `${undoes ? "Redo" : "Undo"} run ${run.run}` }));
    return el(
      "li",
      { class: run.finished ? "run" : "run open" },
      el("div", { class: "run-head" }, time(run.beganAt), el("strong", {}, who), el("span", { class: "faint" }, what, run.finished ? "" : ", not finished"), actions),
      el("ul", { class: "steps" }, run.steps.map((step) => this.step(step))),
      run.changesLeftOut && el("p", { class: "left-out" }, `${plural(run.changesLeftOut, "more change")} not listed`),
    );
  }

  step(step) {
    const changes = step.changes.map((change) =>
      el(
        "li",
        { class: change.undoneBy ? "undone" : "" },
        el("span", { class: "numbers" }, change.change),
        el("span", { class: `what ${change.what}` }, change.what),
        el("span", { class: "path" }, change.path),
        change.state === "conflicted" && el("span", { class: "bad-text" }, " not made: another program was first"),
        change.undoneBy && el("span", { class: "faint" }, ` undone by ${change.undoneBy}`),
        change.undoes && el("span", { class: "faint" }, ` undoes ${change.undoes}`),
      ),
    );
    const list = el("ul", { class: "changes" }, changes);
    const head = [step.description.length > 200 ? `${step.description.slice(0, 200)}…` : step.description, step.finished ? "" : " (its end is not known)"];
    if (changes.length > 12) return el("li", {}, folded([head, ` — ${plural(changes.length, "change")}`], () => list, false));
    return el("li", {}, head, changes.length > 0 && list);
  }

  /// Shows differences in the panel.
  files(found) {
    let budget = EAGER_LINES;
    return el(
      "div",
      {},
      found.files.map((file) => {
        const lines = lineCount(file.difference);
        const open = lines <= budget;
        if (open) budget -= lines;
        const head = [el("span", { class: "path" }, file.path), el("span", { class: "faint" }, ` +${file.linesAdded} −${file.linesRemoved}`)];
        return folded([head, file.olderNotKept && el("span", { class: "faint" }, " (older contents are not kept)")], () => difference(file.difference, file.path), open, { class: "file" });
      }),
      found.files.length === 0 && el("p", {}, "No file differs."),
      found.total > found.files.length && el("p", { class: "left-out" }, `${plural(found.total - found.files.length, "more file")} not shown`),
    );
  }

  async present(title, query) {
    try {
      const found = await get(`difference?${query}`);
      this.panel.hidden = false;
      fill(this.panel, el("div", { class: "step-head" }, el("h2", { id: "compared-title", tabindex: "-1" }, title), button("Close", () => (this.panel.hidden = true), { kind: "quiet small" })), this.files(found));
      this.panel.querySelector("h2").focus({ preventScroll: true });
      this.panel.scrollIntoView({ block: "nearest" });
    } catch (error) {
      problem(error);
    }
  }

  show(run) {
    return this.present(`What run ${run.run} did`, `run=${run.run}`);
  }

  compare() {
    const [from, to] = [this.from.value || 1, this.to.value];
    return this.present(to ? `Changes ${from} to ${to}` : `Changes since ${from}`, `from=${encodeURIComponent(from)}${to ? `&to=${encodeURIComponent(to)}` : ""}`);
  }

  /// Shows lines of a file, each with the run that made it.
  async lines(from) {
    try {
      const found = await get(`lines?path=${encodeURIComponent(this.file.value)}&from=${from}`);
      this.panel.hidden = false;
      const next = from + found.lines.length;
      fill(
        this.panel,
        el("div", { class: "step-head" }, el("h2", { id: "compared-title", tabindex: "-1" }, `Who wrote ${found.path}`), button("Close", () => (this.panel.hidden = true), { kind: "quiet small" })),
        found.lines.length === 0 ? el("p", {}, "The file has no lines.") : el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Lines of ${found.path}` }, el("table", { class: "blame" }, el("thead", {}, el("tr", {}, ["By", "Line", "Text"].map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, found.lines.map((line, at) => this.line(line, found.lines[at - 1]))))),
        next <= found.total && button(`Lines from ${next} of ${found.total}`, () => this.lines(next), { kind: "quiet wide" }),
      );
      this.panel.querySelector("h2").focus({ preventScroll: true });
      this.panel.scrollIntoView({ block: "nearest" });
    } catch (error) {
      problem(error);
    }
  }

  line(line, above) {
    // Who it was stands at the first of several lines.
    const isNew = !above || above.change !== line.change || above.by !== line.by;
    const by = line.run ? el("button", { type: "button", class: "entry-link" }, line.by, " ", time(line.beganAt)) : line.by;
    if (line.run) by.addEventListener("click", () => this.show({ run: line.run }));
    return el("tr", { class: isNew ? "first" : "" }, el("td", { class: "by" }, isNew && by), el("td", { class: "figure" }, line.line), el("td", { class: "code" }, visible(line.text.text), line.text.linesCut > 0 && el("span", { class: "faint" }, " …")));
  }

  async undoNewest() {
    const newest = this.runs.find((run) => {
      const changes = run.steps.flatMap((step) => step.changes);
      return changes.some((change) => !change.undoes && !change.undoneBy && change.state !== "conflicted" && !change.path.endsWith("/"));
    });
    if (!newest) return notice("There is nothing to undo here");
    await this.undo(newest, false);
  }

  /// Shows what an undo takes back, asks, and undoes.
  async undo(run, isRedo) {
    try {
      const found = await get(`difference?run=${run.run}`);
      const word = isRedo ? "Redo" : "Undo";
      const yes = await confirmed(
        isRedo ? `Redo what run ${run.run} has undone?` : `Undo run ${run.run}?`,
        word,
        el("p", {}, "This is what the run did, and what is reverted now. It can be done again."),
        this.files(found),
      );
      if (!yes) return;
      const undone = await send("undo", isRedo ? { change: lastChange(run) } : { run: run.run });
      if (undone.error) return this.obstacles(undone);
      const said = isRedo ? "Done again" : "Undone";
      notice(`${said}: ${undone.lines.slice(0, 3).join(", ")}${undone.lines.length > 3 ? " …" : ""}`, { advice: undone.redo ? "the newest entry of the history reverts this undo" : undefined });
      say(`${said}, ${plural(undone.lines.length + undone.linesLeftOut, "path")}`);
      await this.refresh();
    } catch (error) {
      problem(error);
    }
  }

  /// Shows what prevents an undo.
  obstacles(refusal) {
    this.panel.hidden = false;
    fill(
      this.panel,
      el("h2", { id: "compared-title", tabindex: "-1" }, "Not undone"),
      el("p", { class: "bad-text", role: "alert" }, refusal.error),
      refusal.advice && el("p", {}, refusal.advice),
      refusal.obstacles.map((obstacle) => el("div", {}, el("p", {}, el("code", {}, obstacle.path), ` ${obstacle.why}`), obstacle.difference.text && difference(obstacle.difference, obstacle.path))),
    );
    this.panel.querySelector("h2").focus();
  }

  async event(event) {
    if (event.type === "changed") await this.refresh();
  }
}

function lastChange(run) {
  return run.steps.flatMap((step) => step.changes).filter((change) => change.undoes).at(-1).change;
}
