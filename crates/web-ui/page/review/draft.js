// The draft of a review: what is taken, the comments, and their way to the server.

import { send } from "../server.js";

export class Draft {
  /// `refused` is called with the draft of another window that was faster.
  constructor(id, { changed, refused }) {
    this.id = id;
    this.changed = changed;
    this.refused = refused;
    this.saving = null;
    this.changes = 0;
  }

  load(draft, positions) {
    this.revision = draft.revision;
    this.selection = draft.selection;
    this.comments = draft.comments;
    this.summary = draft.summary;
    this.positions = positions;
  }

  isBusy() {
    return Boolean(this.saving);
  }

  takes(step, hunk) {
    const verdict = this.selection[step.step];
    if (verdict === undefined || verdict === "take") return true;
    if (verdict === "leaveOut") return false;
    return hunk ? verdict.hunks.includes(hunk.id) : verdict.hunks.length > 0;
  }

  /// Returns "all", "some" or "none" of a step.
  taken(step) {
    const verdict = this.selection[step.step];
    return verdict === undefined || verdict === "take" ? "all" : verdict === "leaveOut" ? "none" : "some";
  }

  takeStep(step, isTaken) {
    if (isTaken) delete this.selection[step.step];
    else this.selection[step.step] = "leaveOut";
    return this.save();
  }

  takeHunk(step, hunk, isTaken) {
    const ids = step.hunks.map((one) => one.id);
    const taken = ids.filter((id) => (id === hunk.id ? isTaken : this.takes(step, { id })));
    if (taken.length === ids.length) delete this.selection[step.step];
    else this.selection[step.step] = taken.length ? { hunks: taken.sort() } : "leaveOut";
    return this.save();
  }

  /// Checks whether a choice in its shortest form is this one.
  isChoice(selection) {
    const text = (one) => JSON.stringify(Object.entries(one).map(([step, verdict]) => [step, verdict.hunks ? [...verdict.hunks].sort() : verdict]));
    return text(selection) === text(this.selection);
  }

  say(summary) {
    if (summary === this.summary) return this.settled();
    this.summary = summary;
    return this.save();
  }

  async comment(comment) {
    await this.settled();
    this.changes += 1;
    await this.guarded(async () => {
      const { draft } = await send(`review/${this.id}/comment`, { ...comment, revision: this.revision });
      const [first, last] = comment.lines ?? [];
      this.load(draft, [...this.positions, comment.lines ? { lines: { first, last } } : "step"]);
      this.changed();
    });
  }

  changeComment(index, text) {
    if (text === null) {
      this.comments.splice(index, 1);
      this.positions.splice(index, 1);
    } else this.comments[index].text = text;
    return this.save();
  }

  /// Saves what there is; what is changed meanwhile is saved behind it.
  save() {
    this.isDirty = true;
    this.changes += 1;
    this.changed();
    this.saving ??= this.guarded(async () => {
      while (this.isDirty) {
        this.isDirty = false;
        const { revision, selection, comments, summary } = this;
        const { draft } = await send(`review/${this.id}/draft`, { revision, selection, comments, summary });
        this.revision = draft.revision;
      }
    }).finally(() => (this.saving = null));
    return this.saving;
  }

  settled() {
    return this.saving ?? Promise.resolve();
  }

  async guarded(work) {
    try {
      await work();
    } catch (error) {
      this.isDirty = false;
      await this.refused(error);
      error.isSaid = true;
      throw error;
    }
  }
}
