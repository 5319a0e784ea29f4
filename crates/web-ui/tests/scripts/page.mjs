// What the page does with keys, clicks and answers.

import assert from "node:assert/strict";
import { button, enter, press, requests, serve, settle } from "./browser.mjs";

const app = { go() {}, inbox: [] };
const sent = (path) => requests.filter((one) => one.path === path);
const session = (id, sequence = 1) => ({ session: id, sequence, complete: false, task: "t", question: null, answers: [], message: null, held: false, done: null });
const plan = (of, more = {}) => ({ mark: `mark of ${of}`, sequence: 1, wouldExecute: true, held: null, refused: null, repairs: [], changesBehindACommand: false, blocks: [], blocksLeftOut: 0, ...more });

const tests = {
  async a_task_is_begun_once_however_often_the_key_is_pressed() {
    const { LoopView } = await import("./loop.js");
    const view = new LoopView(app);
    let begin;
    serve(() => new Promise((resolve) => (begin = resolve)));
    view.showNew();
    const box = document.getElementById("task");
    box.value = "Do it";
    enter(box);
    enter(box);
    await settle();
    assert.equal(sent("sessions").length, 1);
    // The control: it can be begun again once that is answered.
    begin(session("aaaaaaaa"));
    await settle();
    enter(box);
    await settle();
    assert.equal(sent("sessions").length, 2);
  },

  async an_answer_is_sent_once() {
    const { LoopView } = await import("./loop.js");
    const view = new LoopView(app);
    serve(() => new Promise(() => {}));
    view.showQuestion({ ...session("bbbbbbbb"), question: "Which?" });
    const box = document.getElementById("answer");
    box.value = "This";
    enter(box);
    enter(box);
    button(view.question, "Answer").click();
    await settle();
    assert.equal(sent("sessions/bbbbbbbb/answer").length, 1);
  },

  async a_reply_runs_once_and_as_it_was_planned() {
    const { ReplyPanel } = await import("./reply.js");
    const runs = [];
    let ran;
    const panel = new ReplyPanel((of, reply) => (runs.push({ of, ...reply }), new Promise((resolve) => (ran = resolve))));
    panel.show(session("cccccccc"));
    serve((_, body) => plan(body.text, { wouldExecute: false }));
    panel.take("first", "");
    await settle();
    const again = button(panel.plan, "Run it again");
    again.click();
    again.click();
    await settle();
    assert.deepEqual(runs, [{ of: "cccccccc", text: "first", mark: "mark of first", sequence: 1, again: true }]);
    ran();
    await settle();
    // A text that was changed a moment ago is not run by the plan of the one before.
    panel.box.value = "second";
    panel.changed();
    enter(panel.box);
    enter(panel.box, { repeat: true });
    await settle();
    assert.deepEqual(runs.slice(1), [{ of: "cccccccc", text: "second", mark: "mark of second", sequence: 1 }]);
  },

  async a_text_that_is_refused_does_not_run_by_the_plan_before() {
    const { ReplyPanel } = await import("./reply.js");
    const runs = [];
    const panel = new ReplyPanel((of, reply) => runs.push(reply));
    panel.show(session("dddddddd"));
    serve((_, body) => plan(body.text, { refused: body.text === "bad" && { message: "no", advice: null, excerpt: null } }));
    panel.take("good", "");
    await settle();
    panel.box.value = "bad";
    panel.changed();
    enter(panel.box);
    await settle();
    assert.deepEqual(runs, []);
  },

  async a_reply_never_runs_in_another_session_than_its_own() {
    const { LoopView } = await import("./loop.js");
    const view = new LoopView(app);
    serve((path, body) => (path.endsWith("/plan") ? plan(body.text) : {}));
    view.id = "eeeeeeee";
    view.reply.show(session("eeeeeeee"));
    view.reply.take("mine", "");
    await settle();
    view.id = "ffffffff";
    await view.reply.land();
    assert.deepEqual([sent("sessions/eeeeeeee/run").length, sent("sessions/ffffffff/run").length], [0, 0]);
    // The control: in its own, it does.
    view.id = "eeeeeeee";
    await view.reply.land();
    assert.equal(sent("sessions/eeeeeeee/run").length, 1);
  },

  async a_key_that_is_held_down_acts_once() {
    const { setKeys } = await import("./keys.js");
    const pressed = [];
    setKeys({ l: { name: "land", run: () => pressed.push("l") }, j: { name: "next", run: () => pressed.push("j") } });
    for (const key of ["l", "j"]) {
      press(key);
      press(key, { repeat: true });
    }
    assert.deepEqual(pressed, ["l", "j", "j"]);
  },

  async events_begin_behind_what_the_page_has_read() {
    const { beginBehind, follow } = await import("./events.js");
    serve(() => new Promise(() => {}));
    beginBehind("epoch-7");
    // Reading again takes no event back.
    beginBehind("epoch-9");
    follow(() => {}, () => {});
    await settle();
    assert.equal(sent("events")[0].headers["last-event-id"], "epoch-7");
  },

  async a_server_that_does_not_know_the_browser_is_asked_again_after_an_entry_only() {
    const { follow, hurry } = await import("./events.js");
    const { whenRefused } = await import("./server.js");
    const states = [];
    let entries = 0;
    whenRefused(() => (entries += 1));
    // The other follower of these tests waits for its answer and makes no further request.
    serve(() => ({ refusedWith: 401 }));
    follow(() => {}, (state) => states.push(state));
    await settle();
    assert.deepEqual([states, entries, sent("events").length], [["refused"], 1, 1]);
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.equal(sent("events").length, 1);
    hurry();
    await settle();
    assert.equal(sent("events").length, 2);
    // The control: after another refusal it tries again by itself.
    serve(() => ({ refusedWith: 503 }));
    hurry();
    await settle();
    assert.equal(states.at(-1), "lost");
    assert.equal(entries, 2);
    const before = sent("events").length;
    while (sent("events").length === before) await settle();
  },

  async the_end_of_an_output_is_not_left_out_and_a_block_that_begins_anew_is_new() {
    const { RunPanel } = await import("./run.js");
    const block = (success, output) => ({ kind: "RUN_COMMAND", title: "t", success, summary: "", linesAdded: null, linesRemoved: null, denied: [], notes: [], resultOutput: { text: "" }, output: { text: "", leftOutBytes: 0, end: "", ...output } });
    const panel = new RunPanel();
    serve(() => ({ run: 1, session: "s", blocks: [block(null, { text: "begin" })], blocksLeftOut: 0, ended: null, lastEvent: 1 }));
    await panel.show("s");
    const view = panel.views[0];
    panel.event({ session: "s", run: 1, what: "output", index: 0, text: "", left_out_bytes: 90 }, 2);
    assert.equal(view.skipped.hidden, false);
    panel.event({ session: "s", run: 1, what: "block", index: 0, block: block(true, { end: "end" }) }, 3);
    assert.equal(view.skipped.hidden, true);
    // The control: what is missing is said.
    panel.event({ session: "s", run: 1, what: "block", index: 0, block: block(true, { leftOutBytes: 5, end: "end" }) }, 4);
    assert.match(view.skipped.textContent, /^5 more bytes left out here/);
    panel.event({ session: "s", run: 1, what: "block", index: 0, block: block(null, {}) }, 5);
    panel.event({ session: "s", run: 1, what: "output", index: 0, text: "begin", left_out_bytes: 0 }, 6);
    assert.equal(panel.views.length, 1);
    assert.equal(panel.blocks.children.length, 1);
    assert.equal(panel.views[0].output.textContent, "begin");
  },

  async slow_looks_at_agents_do_not_pile_up() {
    const { AgentsView } = await import("./agents.js");
    const view = new AgentsView(app);
    let look;
    serve(() => new Promise((resolve) => (look = resolve)));
    view.refresh();
    view.refresh();
    await settle();
    assert.equal(sent("agents?skip=0").length, 1);
    look({ agents: [], total: 0 });
    await settle();
    view.refresh();
    await settle();
    assert.equal(sent("agents?skip=0").length, 2);
  },

  async a_command_is_shown_with_its_variables() {
    const { Steps } = await import("./review/steps.js");
    const steps = new Steps(document.createElement("div"), {});
    steps.units = [];
    const step = { step: 1, kind: "command", title: "run make test", command: { text: "make test" }, folder: null, background: null, effects: [], effectsLeftOut: 0 };
    const shown = steps.command({ ...step, surroundings: ['with MAKEFLAGS="--eval=$(shell ./evil)"', 'with B="2"'], surroundingsLeftOut: 3 });
    const lines = shown.all().filter((node) => node.tag === "li").map((node) => node.textContent);
    assert.deepEqual(lines, ['with MAKEFLAGS="--eval=$(shell ./evil)"', 'with B="2"']);
    assert.match(shown.textContent, /3 more variables not shown here/);
    // The control: a command without any says nothing of them.
    const plain = steps.command({ ...step, surroundings: [], surroundingsLeftOut: 0 });
    assert.equal(plain.textContent, "make test");
  },

  async what_another_window_has_tried_does_not_land_unseen() {
    const { ProposalPanel } = await import("./review/proposal.js");
    const panel = new ProposalPanel({ work: document.createElement("div"), files: document.createElement("div"), refresh: async () => {}, readable: () => [] });
    panel.draw = panel.chosen = () => {};
    const steps = [{ step: 1, kind: "change", hunks: [] }];
    const shown = (mark, more = {}) => ({ id: 1, state: "pending", mark, steps, isTrying: false, isTried: false, draft: { revision: 1, selection: {}, comments: [], summary: "" }, positions: [], ...more });
    let now = shown("planned");
    serve((path) => (path === "review/1" ? now : { stopped: false, end: "landed", outcomes: [] }));
    await panel.open(1);
    now = shown("tried", { isTried: true });
    await panel.refresh();
    await panel.decisions.land();
    assert.equal(sent("review/1/land").length, 0);
    // The control: a trial of this window was waited for, and its results are seen.
    now = shown("tried again", { isTried: true });
    await panel.decisions.tryOut();
    await panel.decisions.land();
    assert.deepEqual(sent("review/1/land").map((one) => one.body.mark), ["tried again"]);
  },
};

const failed = [];
for (const [name, run] of Object.entries(tests)) {
  requests.length = 0;
  try {
    await run();
  } catch (error) {
    failed.push(`${name}: ${error.stack}`);
  }
}
console.log(failed.length ? failed.join("\n\n") : `${Object.keys(tests).length} tests passed`);
process.exit(failed.length ? 1 : 0);
