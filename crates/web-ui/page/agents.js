// Agents in worktrees of their own: who is ready, what they did, and taking one over.

import { el, fill, button, notice, number, plural, problem } from "./dom.js";
import { get, send } from "./server.js";
import { difference, leftOut } from "./difference.js";
import { confirmed } from "./keys.js";
import { uncoloured } from "./visible.js";

/// Agents are looked at again in this interval while the view is open: their processes publish no events.
const INTERVAL = 2000;

export class AgentsView {
  constructor(app) {
    this.app = app;
    this.title = "Agents";
    this.name = "agents";
    this.board = el("div", {});
    this.panel = el("section", { class: "card", "aria-labelledby": "agent-title", hidden: true });
    this.root = el("div", { class: "narrow wide-table" }, el("h1", {}, "Agents"), this.board, this.panel);
    this.keys = {};
    this.skip = 0;
  }

  async open() {
    await this.refresh();
    this.timer = setInterval(() => this.refresh().catch(() => {}), INTERVAL);
  }

  close() {
    clearInterval(this.timer);
  }

  async refresh() {
    if (document.visibilityState === "hidden") return;
    // A look at many agents takes longer than the interval: looks that wait would keep all other requests of the page waiting.
    const { skip } = this;
    if (this.looking === skip) return;
    this.looking = skip;
    const found = await get(`agents?skip=${skip}`).finally(() => (this.looking = null));
    if (skip !== this.skip) return;
    const text = JSON.stringify(found);
    // Only what has changed is drawn again, so that the focus stays where it is.
    if (text === this.last) return;
    this.last = text;
    if (found.total === 0) {
      fill(this.board, el("div", { class: "card empty" }, el("p", {}, "No agent has run here."), el("p", { class: "faint" }, "Several coding agents can work on one issue, each in a git worktree of its own: ", el("code", {}, "agentd cocode run --issue N --agent NAME"), ". This page shows which of them are really done.")));
      return;
    }
    const runs = new Map();
    for (const agent of found.agents) runs.set(agent.run, [...(runs.get(agent.run) ?? []), agent]);
    fill(
      this.board,
      [...runs.values()].map((agents) => this.run(agents)),
      found.total > found.agents.length && el("p", { class: "row" }, `${plural(found.total, "agent")} in all`, this.skip > 0 && button("Newer", () => this.turn(-100)), this.skip + 100 < found.total && button("Older", () => this.turn(100))),
    );
  }

  turn(by) {
    this.skip = Math.max(0, this.skip + by);
    this.refresh().catch(problem);
  }

  run(agents) {
    const sorted = [...agents].sort((a, b) => a.rank - b.rank || (a.linesAdded ?? 0) + (a.linesRemoved ?? 0) - (b.linesAdded ?? 0) - (b.linesRemoved ?? 0));
    const heads = ["Agent", "State", "Commits", "Files", "Lines", "Check", "Time", ""];
    return el(
      "section",
      { class: "card" },
      el("h2", {}, `Issue ${agents[0].issue}`),
      el(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": `Agents of issue ${agents[0].issue}` },
        el(
          "table",
          {},
          el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head || el("span", { class: "hidden-text" }, "Actions"))))),
          el("tbody", {}, sorted.map((agent) => this.row(agent))),
        ),
      ),
    );
  }

  row(agent) {
    const check = agent.checkPassed === true ? "passed" : agent.checkPassed === false ? "failed" : agent.check ? "not reached" : "none";
    const state = agent.rank === 0 ? "good" : agent.isFinal && agent.rank === 2 ? "bad" : "";
    const size = (value) => (value === null ? "–" : number(value));
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, agent.agent),
      el("td", {}, el("span", { class: `tag ${state}` }, agent.state), agent.rank === 1 && el("span", { class: "faint" }, " unchecked"), agent.why.length > 0 && el("div", { class: "faint small" }, agent.why.join("; "))),
      el("td", { class: "figure" }, number(agent.commits)),
      el("td", { class: "figure" }, size(agent.files)),
      el("td", { class: "figure" }, agent.linesAdded === null ? "–" : `+${agent.linesAdded} −${agent.linesRemoved}`),
      el("td", {}, check),
      el("td", { class: "figure" }, agent.seconds === null ? "–" : `${agent.seconds.toFixed(1)} s`),
      el(
        "td",
        {},
        el(
          "div",
          { class: "row" },
          button("Log", () => this.log(agent), { kind: "small", label: `Log of ${agent.agent}` }),
          agent.commits > 0 && button("Difference", () => this.difference(agent), { kind: "small", label: `Difference of ${agent.agent}` }),
          agent.isFinal && agent.commits > 0 && button("Pick", () => this.pick(agent), { kind: "small", label: `Pick ${agent.agent}` }),
          !agent.isFinal && button("Cancel", () => this.cancel(agent), { kind: "small danger", label: `Cancel ${agent.agent}` }),
        ),
      ),
    );
  }

  present(title, content) {
    this.panel.hidden = false;
    fill(this.panel, el("div", { class: "step-head" }, el("h2", { id: "agent-title", tabindex: "-1" }, title), button("Close", () => (this.panel.hidden = true), { kind: "quiet small" })), content);
    this.panel.querySelector("h2").focus();
  }

  async log(agent) {
    try {
      const log = await get(`agents/${encodeURIComponent(agent.key)}/log`);
      const box = el("div", {});
      if (log.olderFiles || log.leftOutBytes) box.append(el("p", { class: "left-out" }, `earlier output left out; agentd cocode logs ${agent.agent} prints all of it`));
      box.append(log.text.text ? el("pre", { class: "output", tabindex: "0", "aria-label": "Log" }, uncoloured(log.text.text)) : el("p", {}, "It has printed nothing yet."));
      leftOut(box, log.text);
      this.present(`Log of ${agent.agent}`, box);
    } catch (error) {
      problem(error);
    }
  }

  async difference(agent) {
    try {
      this.present(`What ${agent.agent} did`, difference(await get(`agents/${encodeURIComponent(agent.key)}/difference`)));
    } catch (error) {
      problem(error);
    }
  }

  async cancel(agent) {
    try {
      await send(`agents/${encodeURIComponent(agent.key)}/cancel`);
      notice(`${agent.agent} is asked to end`);
    } catch (error) {
      problem(error);
    }
  }

  async pick(agent) {
    try {
      const path = `agents/${encodeURIComponent(agent.key)}/pick`;
      const would = await send(path, { dryRun: true });
      if (would.way === "already_there") return notice(`${would.branch} is here already`);
      const how = {
        fast_forward: "The current branch moves forward to it.",
        merge: "It is merged into the current branch, without conflicts.",
        files: `It is taken into the files, not committed, as a run of ${would.conversation}, and is undone with it.`,
      }[would.way];
      const warning = !would.is_ready ? "The agent is not verified ready." : !would.is_checked ? "Unchecked: only the agent itself says that it works." : null;
      const yes = await confirmed(
        `Take over the work of ${agent.agent}?`,
        "Pick",
        el("p", {}, how),
        warning && el("p", { class: "warn" }, warning),
        (would.asked ?? []).map((file) => el("p", { class: "warn" }, `Look at ${file.path}: ${file.reason}`)),
      );
      if (!yes) return;
      const picked = await send(path, { dryRun: false });
      notice(`${picked.branch} is ${would.way === "files" ? "in the files" : "in the current branch"} now`);
    } catch (error) {
      problem(error);
    }
  }

  async event() {}
}
