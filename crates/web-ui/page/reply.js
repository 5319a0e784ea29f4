// The reply of the model: pasted, dropped, or arrived through the inbox.

import { el, fill, button, number, plural, problem, say } from "./dom.js";
import { get, send } from "./server.js";
import { showPlan } from "./plan.js";

/// The time without a change of the text after which it is planned.
const PAUSE = 150;

/// The most characters of a draft that a reload keeps, and of a reply that the box shows.
const MOST_DRAFT = 500000;
const MOST_SHOWN = 400000;

/// The panel for the reply to the pending message.
export class ReplyPanel {
  /// `onRun` is called with the session, and with what the server needs to run the reply.
  constructor(onRun) {
    this.onRun = onRun;
    this.box = el("textarea", { id: "reply", rows: "7", spellcheck: "false", autocomplete: "off", "aria-describedby": "reply-note", placeholder: "Paste the whole answer here" });
    this.note = el("p", { id: "reply-note", class: "faint" });
    this.inbox = el("div", { class: "inbox" });
    this.plan = el("div", { class: "plan", "aria-live": "off" });
    this.root = el(
      "section",
      { class: "card step", "aria-labelledby": "reply-title" },
      el("div", { class: "step-head" }, el("h2", { id: "reply-title" }, "Reply"), el("span", { class: "faint" }, "nothing runs before you say so")),
      this.inbox,
      el("label", { for: "reply", class: "hidden-text" }, "Reply of the model"),
      this.box,
      this.note,
      this.plan,
    );
    this.box.addEventListener("input", () => this.changed());
    this.box.addEventListener("paste", (event) => this.pasted(event));
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) this.land();
    });
    this.root.addEventListener("dragover", (event) => (event.preventDefault(), this.root.classList.add("dropping")));
    this.root.addEventListener("dragleave", () => this.root.classList.remove("dropping"));
    this.root.addEventListener("drop", (event) => this.dropped(event));
  }

  show(session) {
    this.root.hidden = session.complete;
    const isOther = this.session?.session !== session.session || this.session?.sequence !== session.sequence;
    this.session = session;
    if (!isOther) return;
    const draft = sessionStorage.getItem(this.draftKey());
    this.clear();
    if (draft) this.take(draft, "The text that was here before the page was loaded again.");
  }

  draftKey() {
    return `draft/${this.session.session}/${this.session.sequence}`;
  }

  /// Shows the replies that wait in the inbox.
  showInbox(waiting) {
    const here = waiting.filter((reply) => !reply.session || reply.session === this.session?.session);
    fill(
      this.inbox,
      here.map((reply) =>
        el("div", { class: "arrived", role: "status" }, el("span", {}, `${reply.name} has arrived in the inbox, ${plural(reply.characters, "character")}`), button("Look at it", () => this.fromInbox(reply.name))),
      ),
    );
  }

  async fromInbox(name) {
    try {
      const text = await get(`inbox/${encodeURIComponent(name)}`);
      this.source = { file: name };
      this.box.value = text.text.slice(0, MOST_SHOWN);
      this.box.readOnly = true;
      fill(this.note, `This is inbox/${name}. `, text.linesLeftOut || text.linesCut ? "A part of it is shown; the whole of it is planned and run. " : "", button("Close", () => this.clear(), { kind: "quiet small" }));
      await this.tryOut();
    } catch (error) {
      problem(error);
    }
  }

  changed() {
    if (this.box.readOnly) return;
    this.source = { text: this.box.value };
    // The plan that is shown is of another text.
    this.planned = null;
    this.keepDraft();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tryOut(), PAUSE);
  }

  /// A text of megabytes would stall the box, so it is kept beside it.
  pasted(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length <= MOST_SHOWN) return;
    event.preventDefault();
    this.take(text, "");
  }

  async dropped(event) {
    event.preventDefault();
    this.root.classList.remove("dropping");
    const file = event.dataTransfer.files[0];
    if (file) this.take(await file.text(), `From the file ${file.name}.`);
    else this.take(event.dataTransfer.getData("text/plain"), "");
  }

  /// Takes a text as the reply.
  take(text, note) {
    if (!text) return;
    this.source = { text };
    const isLong = text.length > MOST_SHOWN;
    this.box.value = isLong ? text.slice(0, MOST_SHOWN) : text;
    this.box.readOnly = isLong;
    const cut = isLong ? `The first ${number(MOST_SHOWN)} of ${number(text.length)} characters are shown; all of them are planned and run. ` : "";
    fill(this.note, note, " ", cut, isLong && button("Close", () => this.clear(), { kind: "quiet small" }));
    this.keepDraft();
    this.tryOut();
  }

  keepDraft() {
    const text = this.source?.text ?? "";
    try {
      if (text && text.length <= MOST_DRAFT) sessionStorage.setItem(this.draftKey(), text);
      else sessionStorage.removeItem(this.draftKey());
    } catch {
      // Full: then a reload loses the text, and nothing else.
    }
  }

  clear() {
    clearTimeout(this.timer);
    this.source = null;
    this.planned = null;
    this.box.value = "";
    this.box.readOnly = false;
    fill(this.note);
    fill(this.plan);
    if (this.session) sessionStorage.removeItem(this.draftKey());
  }

  focus() {
    this.box.focus();
    this.box.scrollIntoView({ block: "nearest" });
  }

  /// Shows what running the reply would do.
  async tryOut({ focus = false } = {}) {
    clearTimeout(this.timer);
    const source = this.source;
    this.planned = null;
    if (!source || (source.text !== undefined && !source.text.trim())) {
      fill(this.plan);
      return;
    }
    this.plan.setAttribute("aria-busy", "true");
    const of = this.session;
    try {
      const plan = await send(`sessions/${of.session}/plan`, source);
      // The text has changed meanwhile, and is planned again.
      if (source !== this.source || of.session !== this.session.session || of.sequence !== this.session.sequence) return;
      this.planned = plan;
      const said = showPlan(this.plan, plan, { run: (more) => this.run(source, plan, more), clear: () => this.clear() });
      say(said);
      if (focus) this.plan.querySelector("h3")?.focus();
    } catch (error) {
      fill(this.plan, el("p", { class: "bad-text", role: "alert" }, error.message), error.advice && el("p", { class: "faint" }, error.advice));
    } finally {
      this.plan.removeAttribute("aria-busy");
    }
  }

  /// Runs the reply, if its plan is shown and allows it.
  async land() {
    if (!this.source) return this.focus();
    if (!this.planned) await this.tryOut();
    if (this.planned && !this.planned.refused) await this.run(this.source, this.planned);
  }

  /// Runs what was planned: that text, as the answer to the message that was pending then. A second click is none.
  async run(source, { mark, sequence }, more = {}) {
    if (this.isBeginning) return;
    this.isBeginning = true;
    try {
      await this.onRun(this.session.session, { ...source, mark, sequence, ...more });
    } finally {
      this.isBeginning = false;
    }
  }
}
