// The state of the workspace and of this machine.

import { el, fill, button, notice, number, plural, problem } from "./dom.js";
import { get, send } from "./server.js";
import { dialog } from "./keys.js";

/// The options that allow what was refused, as a receipt names them. A program can print a line like a receipt, so nothing else is
/// taken from one.
const GRANT = /^--(network|cache) ([\w.*:@/~=,[\]-]+)$/;

async function copied(text) {
  await navigator.clipboard.writeText(text);
  notice("The command is on the clipboard");
}

export class StatusView {
  constructor(app) {
    this.app = app;
    this.title = "Status";
    this.name = "status";
    this.body = el("div", { class: "status" }, el("p", { class: "faint", role: "status" }, "Looking at this machine…"));
    this.root = el("div", { class: "narrow" }, el("div", { class: "step-head" }, el("h1", {}, "Status"), el("div", { class: "row" }, button("Look again", () => this.refresh().catch(problem), { key: "r" }))), this.body);
    this.keys = { r: { name: "look again", run: () => this.refresh().catch(problem) } };
  }

  async open() {
    await this.refresh();
  }

  async refresh() {
    this.body.setAttribute("aria-busy", "true");
    const status = await get("status");
    this.body.removeAttribute("aria-busy");
    // The first line says what the finding about commands says.
    const findings = status.findings.filter((finding) => finding.detail !== status.sandbox);
    const commands = findings.filter((finding) => ["commands", "to raise it", "writing", "home", "network"].includes(finding.what));
    const rest = findings.filter((finding) => !commands.includes(finding));
    fill(
      this.body,
      this.section("Confinement of commands", el("p", {}, el("code", { class: "sandbox" }, status.sandbox)), this.findings(commands)),
      this.section("Refused by the confinement", this.receipts(status.receipts)),
      this.section("Background processes", this.processes(status.processes)),
      this.section(
        "This workspace",
        el("p", {}, el("code", {}, this.app.overview.folder), this.app.overview.readOnly ? " (read-only)" : ""),
        el("p", {}, status.owner ? `Process ${status.owner.processId} (agentd ${status.owner.command}) owns the state folder; this page works through it.` : "This process owns the state folder; other programs work through it."),
        el("p", {}, status.index ? `The list of files has ${plural(status.index.files, "file")} and takes ${number(Math.round(status.index.memoryBytes / 1024))} KiB${status.index.unread ? `; ${number(status.index.unread)} are still to be read` : ""}.` : "No list of files is kept by this process."),
        this.findings(rest),
      ),
      this.section(
        "Access to this page",
        el("p", {}, "Each address works once. ", status.refusedCodes ? `${plural(status.refusedCodes, "wrong or used code")} ${status.refusedCodes === 1 ? "was" : "were"} refused.` : "No wrong code was given."),
        el("div", { class: "row" }, button("Address for another browser", () => this.code())),
      ),
    );
  }

  section(title, ...content) {
    return el("section", { class: "card" }, el("h2", {}, title), content);
  }

  findings(findings) {
    const words = { good: "ok", limited: "limited", missing: "missing" };
    const tones = { good: "good", limited: "", missing: "bad" };
    return el("dl", { class: "findings" }, findings.map((finding) => [el("dt", {}, el("span", { class: `tag ${tones[finding.state]}` }, words[finding.state]), " ", finding.what), el("dd", {}, finding.detail)]));
  }

  receipts(receipts) {
    if (receipts.length === 0) return el("p", { class: "faint" }, "The last commands of recent sessions were refused nothing.");
    return el("ul", { class: "receipts" }, receipts.map((receipt) => el("li", {}, el("p", {}, receipt.text, this.grant(receipt)), el("p", { class: "faint small" }, receipt.command, " · ", el("a", { href: `#/loop/${receipt.session}` }, `session ${receipt.session}`)))));
  }

  /// Returns the button that shows how to allow what was refused; nothing where no option does.
  grant(receipt) {
    const option = receipt.text.split(" · ").map((part) => GRANT.exec(part)).find(Boolean);
    return option && el("span", {}, " ", button("Allow…", () => this.allow(receipt, option[0], option[1]), { kind: "small", label: `How to allow: ${receipt.text.slice(0, 200)}` }));
  }

  allow(receipt, option, name) {
    const line = `${this.app.overview.command} ${option}`;
    const value = option.slice(name.length + 3);
    const copy = button("Copy", () => copied(line).catch(problem), { label: "Copy the command" });
    dialog(
      "Allow it from the next start on",
      el("p", {}, receipt.text),
      el("p", {}, "Nothing that a page, a model or a program sends can lower the protection, so this takes a start by you:"),
      el("p", {}, el("code", { class: "address" }, line)),
      el("div", { class: "row" }, copy),
      el("p", {}, "For all folders, and from then on, this line does it in ", el("code", {}, "agentd/config.toml"), " of your configuration folder; a line with this key that is there already gets the name added:"),
      el("p", {}, el("code", { class: "address" }, `${name} = ${name === "cache" ? `[${JSON.stringify(value)}]` : JSON.stringify(value)}`)),
    );
  }

  processes(processes) {
    if (processes.length === 0) return el("p", { class: "faint" }, "None runs.");
    return el(
      "ul",
      { class: "processes" },
      processes.map((process) =>
        el(
          "li",
          {},
          el("span", { class: process.isRunning ? "tag good" : "tag" }, process.isRunning ? "runs" : "ended"),
          el("strong", {}, ` ${process.name} `),
          el("code", {}, process.command.slice(0, 300)),
          el("span", { class: "faint" }, ` ${process.conversation}, ${plural(process.outputBytes, "byte")} of output `),
          process.isRunning && button("Stop", () => this.stop(process), { kind: "small danger", label: `Stop ${process.name}` }),
        ),
      ),
    );
  }

  async stop(process) {
    try {
      await send("processes/stop", { conversation: process.conversation, name: process.name });
      notice(`${process.name} is stopped`);
      await this.refresh();
    } catch (error) {
      problem(error);
    }
  }

  async code() {
    try {
      const { url, seconds } = await send("code");
      dialog("Address for another browser", el("p", {}, `It works once, within ${Math.round(seconds / 60)} minutes, on this machine.`), el("p", {}, el("code", { class: "address" }, url)));
    } catch (error) {
      problem(error);
    }
  }

  async event() {}
}
