// The review: the queue of changes that wait for a person, and the proposal that is open.

import { button, el, fill, plural, problem, time } from "../dom.js";
import { get, send } from "../server.js";
import { confirmed } from "../keys.js";
import { cameFrom } from "./head.js";
import { ProposalPanel } from "./proposal.js";

const ENDS = { landed: "landed", sentBack: "sent back", closed: "closed" };

export class ReviewView {
  constructor(app) {
    this.app = app;
    this.title = "Review";
    this.name = "review";
    this.queue = el("div", { class: "side-card", role: "navigation", "aria-label": "Proposals" });
    this.files = el("div", { class: "side-card", role: "navigation", "aria-label": "Files of the proposal" });
    this.work = el("div", { class: "review-work" });
    this.panel = new ProposalPanel(this);
    this.listed = { waiting: [], over: [] };
    this.root = el("div", { class: "review" }, el("div", { class: "side" }, this.queue, this.files), this.work);
    this.keys = this.panel.keys;
    // A person may have edited files in another window.
    addEventListener("focus", () => this.app.view === this && !this.panel.isBusy() && this.refresh().catch((error) => error.status && problem(error)));
    matchMedia("(max-width: 900px)").addEventListener("change", () => this.panel.draw());
  }

  async open([id]) {
    await this.list();
    const wanted = Number(id) || this.readable()[0]?.id;
    if (!wanted) return this.empty();
    if (!id) history.replaceState(null, "", `#/review/${wanted}`);
    try {
      await this.panel.open(wanted);
      this.mark();
    } catch (error) {
      if (error.status !== 404 && error.status !== 422) throw error;
      fill(this.files);
      fill(this.work, el("div", { class: "card" }, el("h1", {}, `Proposal ${wanted} is not there`), el("p", {}, error.message)));
    }
  }

  close() {
    this.panel.close();
    // Nothing that is not current is shown when the view opens again.
    fill(this.work);
    fill(this.files);
  }

  async list() {
    this.listed = await get("review");
    this.app.reviews = this.readable().length;
    this.app.badge();
    const { waiting, over } = this.listed;
    const open = this.readable();
    fill(
      this.queue,
      el("h2", {}, open.length ? `${plural(open.length, "proposal")} ${open.length === 1 ? "waits" : "wait"}` : "Nothing waits"),
      el("ul", { class: "queue" }, waiting.map((one) => this.entry(one))),
      over.length > 0 && el("details", {}, el("summary", {}, "Over"), el("ul", { class: "queue" }, over.map((one) => this.entry(one)))),
    );
    this.mark();
  }

  readable() {
    return this.listed.waiting.filter((one) => !one.fault);
  }

  entry(one) {
    if (one.fault) return this.damaged(one);
    const parts = [plural(one.files, "file"), one.commands > 0 && plural(one.commands, "command"), !one.isPending && ENDS[one.end]];
    return el(
      "li",
      {},
      el(
        "a",
        { href: `#/review/${one.id}`, "data-proposal": one.id },
        el("span", { class: "subject" }, `${one.id}  ${one.subject}`),
        el("span", { class: "faint small" }, parts.filter(Boolean).join(", ")),
        el("span", { class: "faint small" }, `${cameFrom(one)} · `, time(one.cameAt * 1000)),
      ),
    );
  }

  /// One that cannot be read: it can only be dropped, and keeps no other from being reviewed.
  damaged(one) {
    const drop = async () => {
      if (!(await confirmed(`Drop proposal ${one.id}?`, "Drop", el("p", {}, "It cannot be read, so nothing of it can be carried out.")))) return;
      await send(`review/${one.id}/drop`).catch(problem);
      await this.refresh();
    };
    return el("li", { class: "damaged" }, el("span", { class: "subject" }, `${one.id}  cannot be read`), el("span", { class: "faint small" }, one.fault), button("Drop", () => drop().catch(problem), { kind: "small", label: `Drop proposal ${one.id}` }));
  }

  /// Marks the open proposal in the queue.
  mark() {
    for (const link of this.queue.querySelectorAll("a")) {
      if (Number(link.dataset.proposal) === this.panel.id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  empty() {
    this.panel.close();
    fill(this.files);
    fill(
      this.work,
      el(
        "div",
        { class: "card empty" },
        el("h1", {}, "Nothing waits for a review"),
        el("p", {}, "With ", el("code", {}, "--review"), ", what wants to change this folder waits here until you have looked at it: replies of ", el("code", {}, "agentd new --review"), ", and calls of clients of ", el("code", {}, "agentd mcp --review"), " or ", el("code", {}, "agentd serve --review"), "."),
        el("p", { class: "faint" }, "You see every difference, try a choice with its real results, land it, and send the rest back with comments."),
      ),
    );
  }

  async refresh() {
    await this.list();
    if (this.panel.id) await this.panel.refresh();
    else if (this.readable().length) await this.open([]);
  }

  async event(event) {
    if (event.type === "review" || event.type === "changed") await this.refresh();
  }

  /// Goes to the proposal that waits next.
  async next() {
    await this.list();
    const next = this.readable().find((one) => one.id !== this.panel.id);
    this.app.go(next ? `review/${next.id}` : "review");
  }
}
