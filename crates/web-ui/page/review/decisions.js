// Trying a choice, landing it, and sending a proposal back.

import { el, notice, plural, problem, say } from "../dom.js";
import { send } from "../server.js";
import { confirmed } from "../keys.js";

/// What lands a choice, tries it, or sends it back. `panel` is the open proposal.
export class Decisions {
  constructor(panel) {
    this.panel = panel;
  }

  seen() {
    return { revision: this.panel.draft.revision, mark: this.panel.shown.mark };
  }

  async tryOut() {
    const { panel } = this;
    if (!panel.isOpen() || panel.shown.isTrying) return;
    await panel.settled();
    const { id } = panel;
    panel.trying(true);
    say("Trying the choice");
    let ended = {};
    try {
      ended = await send(`review/${id}/try`, this.seen());
    } catch (error) {
      await panel.refused(error);
      ended = null;
    }
    // Another proposal that is open by now is not the one that was tried.
    if (panel.id !== id) return false;
    panel.shown.isTrying = false;
    await panel.refresh();
    // Its results are what was waited for.
    if (ended) panel.isUnread = false;
    if (ended?.stopped) notice("Stopped: nothing was changed");
    else if (ended) say(panel.said);
    return Boolean(ended && !ended.stopped);
  }

  async stop() {
    try {
      await send(`review/${this.panel.id}/stop`);
    } catch (error) {
      problem(error);
    }
  }

  /// True if the choice runs a command and was not tried as it is.
  needsTrial() {
    const { shown, draft } = this.panel;
    const runs = shown.steps.some((step) => step.kind === "command" && draft.taken(step) === "all");
    return runs && !(shown.tried?.isHeld && draft.isChoice(shown.tried.selection));
  }

  async land() {
    const { panel } = this;
    if (!panel.isOpen() || panel.shown.isTrying) return;
    await panel.settled();
    if (panel.isUnread) {
      panel.isUnread = false;
      const why = panel.shown.isTried ? "It was tried in another window since you looked: the differences are the real ones now" : "The folder has changed since you looked: it was planned again";
      return notice(`${why}, and nothing has landed`, { bad: true, advice: "look at it, and land it then" });
    }
    if (panel.shown.steps.every((step) => panel.draft.taken(step) === "none")) {
      return notice("Nothing is taken, so nothing would land", { advice: "take a part, or send it back" });
    }
    if (this.needsTrial()) {
      if (await this.tryOut()) notice("The choice runs commands, so it was tried first", { advice: "look at the results; land it then" });
      return;
    }
    await this.decide("land");
  }

  async sendBack() {
    const { panel } = this;
    if (!panel.isOpen() || panel.shown.isTrying) return;
    await panel.settled();
    const hasWords = panel.draft.comments.length > 0 || panel.draft.summary.trim() !== "";
    if (!hasWords && !(await confirmed("Send it back without a word?", "Send back", el("p", {}, "Nothing of it is carried out, and the model does not learn why.")))) return;
    await this.decide("send-back");
  }

  async decide(how) {
    const { panel } = this;
    if (this.isDeciding) return;
    this.isDeciding = true;
    const { id } = panel;
    try {
      const decided = await send(`review/${id}/${how}`, this.seen());
      const failed = decided.outcomes.filter((outcome) => !outcome.success && !outcome.isLeftOut);
      const hasLanded = decided.end === "landed";
      const isClosed = decided.end === "closed";
      const said = hasLanded ? "Landed" : isClosed ? "Closed: its session has moved on, or its file is another reply" : how === "land" ? "Nothing could be carried out" : "Sent back";
      notice(failed.length && hasLanded ? `Landed, but ${plural(failed.length, "step")} failed` : said, { bad: how === "land" && failed.length > 0, advice: failed[0]?.summary.slice(0, 500) });
      say(said);
    } catch (error) {
      await panel.refused(error);
    } finally {
      this.isDeciding = false;
    }
    await panel.view.refresh();
    // Who has gone on to another proposal may be writing there, and without the focus each letter is a shortcut.
    if (panel.id === id) panel.focusHead();
  }
}
