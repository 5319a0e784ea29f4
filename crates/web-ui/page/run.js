// A reply that is running, or the last one that ran.

import { el, fill, button, plural, problem, say } from "./dom.js";
import { get, send } from "./server.js";
import { leftOut } from "./difference.js";
import { kindName } from "./plan.js";
import { uncoloured } from "./visible.js";

/// The panel with blocks and their live output.
export class RunPanel {
  constructor() {
    this.state = el("span", { class: "faint" });
    this.actions = el("div", { class: "row" });
    this.find = el("input", { type: "search", id: "find", placeholder: "Search the output", "aria-label": "Search the output", autocomplete: "off" });
    this.hits = el("span", { class: "faint", role: "status" });
    this.blocks = el("ol", { class: "blocks" });
    this.end = el("div", { class: "run-end" });
    this.root = el(
      "section",
      { class: "card", "aria-labelledby": "run-title", hidden: true },
      el("div", { class: "step-head" }, el("h2", { id: "run-title" }, "Run"), this.state),
      el("div", { class: "row run-tools" }, this.actions, el("span", { class: "search" }, this.find, this.hits)),
      this.blocks,
      this.end,
    );
    this.find.addEventListener("input", () => this.search());
    this.find.addEventListener("keydown", (event) => event.key === "Enter" && this.next());
  }

  /// Shows the newest run of a session. Events that arrive meanwhile are taken afterwards, as far as the answer lacks them.
  async show(session) {
    this.session = session;
    const turn = (this.turn = (this.turn ?? 0) + 1);
    this.waiting = [];
    let run;
    try {
      run = await get(`sessions/${session}/run`);
    } catch (error) {
      if (turn === this.turn) this.waiting = null;
      throw error;
    }
    // A later request has the newer answer.
    if (turn !== this.turn) return;
    this.root.hidden = !run;
    this.run = run;
    fill(this.blocks);
    this.views = [];
    const { waiting } = this;
    this.waiting = null;
    if (run) {
      run.blocks.forEach((block, index) => this.block(index, block));
      this.showState();
    }
    for (const [event, id] of waiting ?? []) this.event(event, id);
  }

  isRunning() {
    return Boolean(this.run && !this.run.ended);
  }

  /// Takes an event about a run. Returns true if a run of this session has ended by it.
  event(event, id) {
    if (event.session !== this.session) return false;
    const hasEnded = event.what === "ended";
    if (this.waiting) {
      this.waiting.push([event, id]);
      return hasEnded;
    }
    if (event.run !== this.run?.run) {
      if (event.run > (this.run?.run ?? 0)) this.show(event.session).catch(problem);
      return hasEnded;
    }
    // The view has it already.
    if (id && id <= this.run.lastEvent) return hasEnded;
    if (event.what === "block") this.block(event.index, event.block);
    else if (event.what === "output") this.views[event.index]?.add(event.text, event.left_out_bytes);
    else if (hasEnded) {
      this.run.ended = event.ended;
      this.showState();
      say(sentence(event.ended));
    }
    return hasEnded;
  }

  block(index, block) {
    const view = this.views[index];
    if (view && block.success === null) {
      // Reported again, by another process that goes on with the run: with it, and those behind it, it begins anew.
      for (const old of this.views.splice(index)) old.root.remove();
      return this.block(index, block);
    }
    if (view) view.update(block);
    else {
      this.views[index] = new BlockView(block);
      this.blocks.append(this.views[index].root);
    }
  }

  showState() {
    const { ended } = this.run;
    fill(this.state, ended ? sentence(ended) : "running");
    this.root.classList.toggle("running", !ended);
    fill(
      this.actions,
      !ended && button("Stop", () => this.stop(), { kind: "danger" }),
      this.views.length > 1 && button("Fold all", () => this.fold(false), { kind: "quiet" }),
      this.views.length > 1 && button("Open all", () => this.fold(true), { kind: "quiet" }),
    );
    fill(this.end);
    if (!ended) return;
    if (ended.error) this.end.append(el("p", { class: "bad-text", role: "alert" }, ended.error), el("p", {}, ended.advice));
    if (ended.repairs.length) this.end.append(el("p", { class: "repairs" }, el("strong", {}, "Read despite: "), ended.repairs.join(", ")));
    if (ended.superseded.length) {
      this.end.append(el("p", {}, "Another reply to the same message was stopped earlier; its rest is dropped, and the next message reports its results:"), el("ul", {}, ended.superseded.map((line) => el("li", {}, line))));
    }
    for (const note of ended.notes) this.end.append(el("p", { class: "warn" }, note));
    if (this.run.blocksLeftOut) this.end.append(el("p", { class: "left-out" }, `${plural(this.run.blocksLeftOut, "more block")} not shown here`));
  }

  async stop() {
    try {
      await send(`runs/${this.run.run}/stop`);
    } catch (error) {
      problem(error);
    }
  }

  fold(open) {
    for (const view of this.views) if (view.details) view.details.open = open;
  }

  /// Marks the places where the output has the searched text.
  search() {
    const text = this.find.value.toLowerCase();
    this.ranges = [];
    if (text) {
      const walker = document.createTreeWalker(this.blocks, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node && this.ranges.length < 1000; node = walker.nextNode()) {
        const content = node.data.toLowerCase();
        for (let at = content.indexOf(text); at >= 0 && this.ranges.length < 1000; at = content.indexOf(text, at + text.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, Math.min(at + text.length, node.length));
          this.ranges.push(range);
        }
      }
    }
    this.at = -1;
    if (window.Highlight && CSS.highlights) CSS.highlights.set("found", new Highlight(...this.ranges));
    fill(this.hits, text ? plural(this.ranges.length, "match", "matches") : "");
  }

  next() {
    if (!this.ranges?.length) return;
    this.at = (this.at + 1) % this.ranges.length;
    const range = this.ranges[this.at];
    const details = range.startContainer.parentElement.closest("details");
    if (details) details.open = true;
    range.startContainer.parentElement.scrollIntoView({ block: "nearest" });
    if (window.Highlight && CSS.highlights) CSS.highlights.set("current", new Highlight(range));
    fill(this.hits, `${this.at + 1} of ${plural(this.ranges.length, "match", "matches")}`);
  }
}

function sentence(ended) {
  if (ended.error) return "stopped";
  if (!ended.isExecuted) return "it was run before; nothing was done";
  const failed = ended.failed ? `, ${plural(ended.failed, "block")} failed` : "";
  return ended.complete ? `the session is done${failed}` : `finished${failed}`;
}

/// One block of a run.
class BlockView {
  constructor(block) {
    this.mark = el("span", { class: "state" });
    this.summary = el("span", { class: "title" });
    this.counts = el("span", { class: "faint" });
    this.output = el("pre", { class: "output", tabindex: "0", "aria-label": `Output of ${block.title}` });
    this.skipped = el("p", { class: "left-out", hidden: true });
    this.rest = el("div", {});
    this.details = el("details", { open: true }, el("summary", {}, this.mark, el("span", { class: "kind" }, kindName(block.kind)), this.summary, this.counts), el("div", { class: "block-body" }, this.output, this.skipped, this.rest));
    this.root = el("li", { class: "block" }, this.details);
    this.add(block.output.text);
    this.update(block);
  }

  update(block) {
    const { success } = block;
    this.root.className = success === false ? "block bad" : success ? "block" : "block active";
    fill(this.mark, success === null ? "…" : success ? "✓" : "✗");
    this.mark.title = success === null ? "runs" : success ? "done" : "failed";
    this.mark.setAttribute("role", "img");
    this.mark.setAttribute("aria-label", this.mark.title);
    fill(this.summary, block.summary || block.title);
    fill(this.counts, block.linesAdded === null ? "" : `+${block.linesAdded} −${block.linesRemoved}`);
    fill(this.rest);
    if (block.output.leftOutBytes || block.output.end) {
      // While it ran, its end counted as left out.
      this.skipped.hidden = true;
      this.skip(block.output.leftOutBytes);
      this.rest.append(el("pre", { class: "output", tabindex: "0", "aria-label": "End of the output" }, uncoloured(block.output.end)));
    }
    if (block.denied.length) {
      this.rest.append(el("div", { class: "receipts" }, el("p", {}, "The confinement refused:"), el("ul", {}, block.denied.map((line) => el("li", {}, line)))));
    }
    if (block.notes.length) {
      this.rest.append(el("div", { class: "receipts" }, el("p", {}, "To know about it:"), el("ul", {}, block.notes.map((line) => el("li", {}, line)))));
    }
    if (block.resultOutput.text && success === false) {
      this.rest.append(el("pre", { class: "output", tabindex: "0", "aria-label": "Explanation" }, block.resultOutput.text));
      leftOut(this.rest, block.resultOutput);
    }
    this.output.hidden = !this.output.textContent;
    const isEmpty = this.output.hidden && !this.rest.childElementCount;
    this.details.classList.toggle("empty", isEmpty);
  }

  /// Adds output, and keeps the end in sight if it was.
  add(text, leftOutBytes) {
    if (text) {
      const { output } = this;
      const atEnd = output.scrollTop + output.clientHeight >= output.scrollHeight - 8;
      output.hidden = false;
      this.details.classList.remove("empty");
      output.append(el("span", {}, uncoloured(text)));
      if (atEnd) output.scrollTop = output.scrollHeight;
    }
    if (leftOutBytes) this.skip(leftOutBytes);
  }

  skip(bytes) {
    if (!bytes) return;
    this.skipped.hidden = false;
    fill(this.skipped, `${plural(bytes, "more byte")} left out here; the end follows`);
  }
}
