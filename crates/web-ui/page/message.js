// The message that goes into the chat.

import { el, fill, button, notice, number, plural, problem, say } from "./dom.js";
import { getText } from "./server.js";
import { leftOut } from "./difference.js";

/// The panel with the pending message of a session.
export class MessagePanel {
  constructor() {
    this.root = el("section", { class: "card step", "aria-labelledby": "message-title" });
    this.texts = new Map();
  }

  show(session) {
    this.session = session;
    const { message } = session;
    this.root.hidden = !message;
    if (!message) return;
    const key = `${session.session}/${session.sequence}/${message.characters}/${session.answers.length}`;
    if (this.key === key) return;
    const isNew = this.key !== undefined;
    this.key = key;
    this.texts.clear();
    const parts = message.parts.length;
    const size = `${plural(message.characters, "character")}, about ${plural(message.tokens, "token")}`;
    const copy = parts
      ? message.parts.map((_, index) => button(`Copy part ${index + 1} of ${parts}`, () => this.copy(index + 1), { kind: index ? "" : "primary", key: index ? undefined : "c" }))
      : [button("Copy", () => this.copy(), { kind: "primary", key: "c", label: `Copy message ${session.sequence}` })];
    const preview = el("pre", { class: "text", tabindex: "0", "aria-label": `Text of message ${session.sequence}` }, message.preview.text);
    const more = el("details", {}, el("summary", {}, "Show the text"), preview);
    leftOut(more, message.preview);
    more.append(el("p", { class: "faint small" }, "It is also the file ", el("code", {}, message.file), " in the state folder."));
    fill(
      this.root,
      el("div", { class: "step-head" }, el("h2", { id: "message-title" }, `Message ${session.sequence}`), el("span", { class: "faint" }, size)),
      el("div", { class: "row" }, copy, session.sequence > 1 && button("Copy for a new chat", () => this.copy(undefined, true), { kind: "quiet" }), el("span", { class: "faint" }, session.sequence === 1 ? "and paste it into a new chat with a model" : "and paste it into the same chat")),
      more,
    );
    if (isNew) say(`Message ${session.sequence} is ready to be copied`);
    // Copying has to happen at once after the key or click, so the text is here before it.
    this.text(parts ? 1 : undefined).catch(() => {});
  }

  async text(part, full) {
    const query = full ? "?full=true" : part ? `?part=${part}` : "";
    if (!this.texts.has(query)) this.texts.set(query, await getText(`sessions/${this.session.session}/message${query}`));
    return this.texts.get(query);
  }

  async copy(part = this.session?.message?.parts.length ? 1 : undefined, full = false) {
    if (!this.session?.message) return;
    try {
      const text = await this.text(part, full);
      const what = part ? `Part ${part} of message ${this.session.sequence}` : `Message ${this.session.sequence}`;
      try {
        await navigator.clipboard.writeText(text);
        notice(`${what} is on the clipboard: ${number(text.length)} characters`);
        say(`${what} is on the clipboard`);
      } catch {
        this.byHand(text, what);
      }
    } catch (error) {
      problem(error);
    }
  }

  /// Where the browser keeps the clipboard closed, the text is selected for the person to copy.
  byHand(text, what) {
    const box = el("textarea", { readonly: true, rows: "6", "aria-label": what });
    box.value = text;
    this.root.append(el("p", {}, "The browser does not let the page copy. Press Ctrl+C:"), box);
    box.focus();
    box.select();
  }
}
