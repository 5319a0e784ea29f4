// The page: its views, the address that names one, and the events that reach it.

import { el, fill, problem } from "./dom.js";
import { get, whenEnteredElsewhere, whenRefused } from "./server.js";
import { beginBehind, follow, hurry } from "./events.js";
import { setKeys, addKey, help } from "./keys.js";
import { enterByAddress, showEntry } from "./entry.js";
import { LoopView } from "./loop.js";
import { ReviewView } from "./review/view.js";
import { HistoryView } from "./history.js";
import { AgentsView } from "./agents.js";
import { StatusView } from "./status.js";

// A further view is one more class here.
const VIEWS = [LoopView, ReviewView, HistoryView, AgentsView, StatusView];

class App {
  constructor() {
    this.main = document.getElementById("main");
    this.inbox = [];
    this.views = VIEWS.map((View) => new View(this));
    this.links = this.views.map((view, index) => {
      const link = el("a", { href: `#/${view.name}`, "aria-keyshortcuts": String(index + 1) }, view.title);
      addKey(String(index + 1), () => this.go(view.name));
      return link;
    });
    document.getElementById("help").addEventListener("click", help);
    addEventListener("hashchange", () => this.route());
    whenEnteredElsewhere(() => this.entered());
  }

  async start() {
    const failed = await enterByAddress();
    if (failed) return this.showEntry(failed);
    whenRefused(() => this.showEntry());
    try {
      await this.load();
    } catch (error) {
      if (error.status !== 401) problem(error);
      if (error.status === 0) setTimeout(() => this.start(), 1000);
      return;
    }
    this.isIn = true;
    await this.route();
    if (this.isFollowing) return hurry();
    this.isFollowing = true;
    follow((event, id) => this.event(event, id), (state) => this.connection(state));
  }

  async load() {
    this.overview = await get("overview");
    beginBehind(this.overview.lastEvent);
    this.inbox = this.overview.inbox;
    this.reviews = this.overview.reviews;
    document.getElementById("workspace").textContent = this.overview.workspace;
    fill(document.getElementById("views"), this.links);
    this.badge();
  }

  showEntry(failed) {
    if (this.isAtEntry) return;
    this.isAtEntry = true;
    this.isIn = false;
    this.view?.close?.();
    this.view = null;
    document.title = "agentd";
    fill(document.getElementById("views"));
    showEntry(this.main, failed, () => this.entered());
  }

  entered() {
    if (!this.isAtEntry) return;
    this.isAtEntry = false;
    this.start();
  }

  go(path) {
    // At once, so that the next key is one of the view that opens.
    if (location.hash !== `#/${path}`) history.pushState(null, "", `#/${path}`);
    this.route();
  }

  async route() {
    if (!this.isIn) return;
    const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
    const view = this.views.find((one) => one.name === name) ?? this.views[0];
    const isOther = view !== this.view;
    if (isOther) {
      this.view?.close?.();
      this.view = view;
      fill(this.main, view.root);
      setKeys(view.keys);
      this.links.forEach((link, index) => {
        if (this.views[index] === view) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      });
    }
    try {
      await view.open(rest.filter(Boolean));
    } catch (error) {
      problem(error);
    }
    this.titled();
    if (isOther && !this.main.contains(document.activeElement)) this.main.focus({ preventScroll: true });
  }

  titled() {
    const count = this.inbox.length ? `(${this.inbox.length}) ` : "";
    document.title = `${count}${this.view?.title ?? ""} · ${this.overview.workspace} · agentd`;
  }

  /// Shows how many replies wait in the inbox, and how many proposals for a review.
  badge() {
    const count = this.inbox.length;
    fill(this.links[0], "Loop", count > 0 && el("span", { class: "badge" }, count, el("span", { class: "hidden-text" }, " in the inbox")));
    const waiting = this.reviews ?? 0;
    fill(this.links[1], "Review", waiting > 0 && el("span", { class: "badge" }, waiting, el("span", { class: "hidden-text" }, waiting === 1 ? " waits" : " wait")));
    if (this.overview && this.view) this.titled();
  }

  connection(state) {
    const box = document.getElementById("connection");
    box.className = `connection ${state}`;
    box.textContent = state === "lost" ? "no connection: trying again" : "";
    if (state === "open" && this.wasLost && !this.isAtEntry) this.refresh();
    this.wasLost = state === "lost";
  }

  refresh() {
    if (!this.isIn) return;
    this.load().then(() => {
      this.view?.inbox?.(this.inbox);
      return this.view?.refresh();
    }).catch((error) => error.status && problem(error));
  }

  event(event, id) {
    if (event.type === "reset") return this.refresh();
    if (event.type === "inbox") {
      this.inbox = event.waiting;
      this.badge();
      this.view?.inbox?.(event.waiting);
      return;
    }
    if (event.type === "review") {
      this.reviews = event.waiting;
      this.badge();
    }
    if (event.type === "notice") return problem(new Error(event.text));
    this.view?.event(event, id)?.catch((error) => error.status && problem(error));
  }
}

new App().start();
