// The loop: a message into the chat, a reply back, until the model is done.

import { el, fill, append, button, plural, problem, say, time } from "./dom.js";
import { get, send } from "./server.js";
import { MessagePanel } from "./message.js";
import { ReplyPanel } from "./reply.js";
import { RunPanel } from "./run.js";

const PAGE = 50;

export class LoopView {
  constructor(app) {
    this.app = app;
    this.title = "Loop";
    this.name = "loop";
    this.message = new MessagePanel();
    this.reply = new ReplyPanel((session, source) => this.run(session, source));
    this.runPanel = new RunPanel();
    this.list = el("ul", { class: "sessions" });
    this.more = el("div", {});
    this.head = el("header", { class: "session-head" });
    this.question = el("section", { class: "card question", "aria-labelledby": "question-title", hidden: true });
    this.skip = 0;
    this.side = el(
      "aside",
      { class: "side", "aria-label": "Sessions" },
      button("New task", () => this.newTask(), { kind: "primary wide", key: "n" }),
      this.list,
      this.more,
    );
    this.main = el("div", { class: "work" });
    this.root = el("div", { class: "loop" }, this.side, this.main);
    this.keys = {
      n: { name: "new task", run: () => this.newTask() },
      c: { name: "copy the message", run: () => this.message.copy() },
      v: { name: "go to the box for the reply, to paste", run: () => this.reply.focus() },
      t: { name: "plan: show what the reply would do", run: () => this.reply.tryOut({ focus: true }) },
      l: { name: "run the reply (Ctrl+Enter in its box)", run: () => this.reply.land() },
      s: { name: "stop what runs", run: () => this.runPanel.isRunning() && this.runPanel.stop() },
      a: { name: "answer the model's question", run: () => document.getElementById("answer")?.focus() },
      u: { name: "undo the last run", run: () => this.app.go("history/undo") },
      "/": { name: "search the output", run: () => !this.runPanel.root.hidden && this.runPanel.find.focus() },
    };
  }

  async open([id]) {
    // Another opening may begin while this one waits; the later one wins.
    const turn = (this.turn = (this.turn ?? 0) + 1);
    await this.loadList();
    if (turn !== this.turn) return;
    if (id === "new" || (!id && this.sessions.length === 0)) {
      this.showNew();
      // The box that opens by itself leaves the keys to the page.
      if (id === "new") this.task.focus({ preventScroll: true });
      return;
    }
    const newest = this.sessions.find((session) => !session.complete) ?? this.sessions[0];
    this.id = id ?? newest.session;
    this.session = null;
    fill(this.main, this.head, this.question, this.message.root, this.reply.root, this.runPanel.root);
    this.markCurrent();
    await this.load();
    if (turn === this.turn) await this.runPanel.show(this.id);
  }

  /// Goes to the box for a new task. One that is open already keeps its text.
  newTask() {
    if (this.task?.isConnected) this.task.focus();
    else this.app.go("loop/new");
  }

  async loadList() {
    const found = await get(`sessions?limit=${Math.max(PAGE, this.skip)}`);
    this.sessions = found.sessions;
    fill(this.list, this.sessions.map((session) => this.entry(session)));
    this.showMore(found.total);
    this.markCurrent();
  }

  showMore(total) {
    const left = total - this.sessions.length;
    fill(this.more, left > 0 && button(`Show more (${plural(left, "session")})`, () => this.loadMore().catch(problem), { kind: "quiet wide" }));
  }

  async loadMore() {
    const found = await get(`sessions?skip=${this.sessions.length}&limit=${PAGE}`);
    this.sessions.push(...found.sessions);
    append(this.list, found.sessions.map((session) => this.entry(session)));
    this.showMore(found.total);
    this.markCurrent();
  }

  entry(session) {
    const state = session.complete ? "done" : `message ${session.sequence}`;
    return el("li", {}, el("a", { href: `#/loop/${session.session}`, "data-id": session.session }, el("span", { class: "task" }, session.task.slice(0, 200)), el("span", { class: "faint small" }, state, " · ", time(session.updatedAt))));
  }

  markCurrent() {
    for (const link of this.list.querySelectorAll("a")) {
      if (link.dataset.id === this.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  async load() {
    if (!this.id) return;
    const session = await get(`sessions/${this.id}`);
    // Another one was opened meanwhile.
    if (session.session !== this.id) return;
    this.session = session;
    this.show(session);
  }

  show(session) {
    const state = session.complete ? el("span", { class: "tag good" }, "done") : el("span", { class: "tag" }, `message ${session.sequence}`);
    fill(
      this.head,
      el("h1", {}, session.task.length > 300 ? `${session.task.slice(0, 300)}…` : session.task),
      el("p", { class: "faint" }, state, " session ", el("code", {}, session.session)),
      session.complete && el("div", { class: "card done" }, el("h2", {}, "Done"), el("p", { class: "message-text" }, session.done || "The model has no summary."), el("div", { class: "row" }, button("The task is not complete: go on", () => this.reopen()), el("a", { class: "button", href: "#/history" }, "See what was changed"))),
      session.held && el("p", { class: "warn" }, "The last reply was cut off. The next one should go on where it ended."),
    );
    this.showQuestion(session);
    this.message.show(session);
    this.reply.show(session);
    this.reply.showInbox(this.app.inbox);
  }

  showQuestion(session) {
    this.question.hidden = !session.question;
    const key = `${session.session}/${session.sequence}/${session.answers.length}`;
    if (!session.question || this.questionKey === key) return;
    this.questionKey = key;
    const box = el("textarea", { id: "answer", rows: "2" });
    let isSending = false;
    const go = async () => {
      if (isSending) return;
      isSending = true;
      try {
        const now = await send(`sessions/${session.session}/answer`, { sequence: session.sequence, text: box.value });
        say("The message has your answer");
        this.session = now;
        this.show(now);
      } catch (error) {
        problem(error);
      } finally {
        isSending = false;
      }
    };
    box.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && go());
    fill(
      this.question,
      el("h2", { id: "question-title" }, "The model asks"),
      el("p", { class: "message-text" }, session.question),
      session.answers.length > 0 && el("p", { class: "faint" }, "Your answer is in the message: ", session.answers.join(" / ")),
      el("label", { for: "answer" }, session.answers.length ? "Add to the answer" : "Your answer goes into the next message"),
      box,
      el("div", { class: "row" }, button("Answer", go, { key: "a" })),
    );
  }

  showNew() {
    this.id = null;
    this.session = null;
    this.markCurrent();
    const task = (this.task = el("textarea", { id: "task", rows: "4", required: true, placeholder: "Make the failing test pass" }));
    const size = el("select", { id: "chat" });
    for (const [name, tokens] of [["any chat (24,000 tokens)", 24000], ["small or local models (6,000)", 6000], ["Copilot (10,000)", 10000], ["Gemini (60,000)", 60000], ["Claude (100,000)", 100000]]) {
      size.append(el("option", { value: tokens }, name));
    }
    const parts = el("input", { id: "parts", type: "number", min: "2000", step: "500", placeholder: "no limit" });
    const go = async () => {
      // The key works without the button.
      if (create.disabled) return;
      try {
        create.disabled = true;
        const session = await send("sessions", { task: task.value, budget: Number(size.value), pasteCharacters: parts.value ? Number(parts.value) : undefined });
        this.app.go(`loop/${session.session}`);
      } catch (error) {
        problem(error);
      } finally {
        create.disabled = false;
      }
    };
    const create = button("Write the first message", go, { kind: "primary" });
    task.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && go());
    fill(
      this.main,
      el(
        "section",
        { class: "card new-task" },
        el("h1", {}, "What should the model do?"),
        el("label", { for: "task", class: "hidden-text" }, "Task"),
        task,
        el("details", {}, el("summary", {}, "The chat's limits"), el("div", { class: "fields" }, el("label", { for: "chat" }, "Messages fit"), size, el("label", { for: "parts" }, "Most characters of one paste"), parts)),
        el("div", { class: "row" }, create, el("span", { class: "faint" }, "Ctrl+Enter")),
      ),
      el(
        "ol",
        { class: "how" },
        el("li", {}, el("strong", {}, "Copy"), " the message into any chat with a model."),
        el("li", {}, el("strong", {}, "Paste"), " the answer back. You see every change and command first."),
        el("li", {}, el("strong", {}, "Run"), " it. Commands are confined to the folder, and changes can be undone."),
      ),
    );
  }

  async reopen() {
    try {
      this.session = await send(`sessions/${this.id}/reopen`);
      this.show(this.session);
    } catch (error) {
      problem(error);
    }
  }

  async run(session, source) {
    // The panel still shows the reply of a session that was left, until the next one is read.
    if (session !== this.id) return;
    try {
      await send(`sessions/${session}/run`, source);
      this.reply.clear();
      this.runPanel.root.hidden = false;
      this.runPanel.root.scrollIntoView({ block: "nearest" });
    } catch (error) {
      problem(error);
    }
  }

  inbox(waiting) {
    this.reply.showInbox(waiting);
  }

  async event(event, id) {
    if (event.type === "run" && this.runPanel.event(event, id)) await this.load();
    if (event.type === "changed") await Promise.all([this.loadList(), this.load()]);
  }

  /// Reads everything again, without losing what a person has typed.
  async refresh() {
    await this.loadList();
    await this.load();
    if (this.id) await this.runPanel.show(this.id);
  }
}
