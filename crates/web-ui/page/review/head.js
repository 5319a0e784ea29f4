// The head of a proposal: where it came from, what is taken of it, and what can be done.

import { el, fill, button, plural, problem, time } from "../dom.js";

const FRONT_ENDS = { session: "a chat session", mcp: "an MCP client", http: "an HTTP client", llm4s: "an llm4s client", wap: "a WAP client", codali: "Codali" };

export const cameFrom = (one) => `${FRONT_ENDS[one.frontEnd] ?? one.frontEnd} · ${one.conversation}`;

const STATES = { pending: "", landing: "is landing", landed: "has landed", sentBack: "was sent back", closed: "was closed without an answer" };

/// Shows the head of the proposal of a panel. A button that has the focus keeps it.
export function showHead(panel) {
  const { head, shown, draft, keys, decisions } = panel;
  const units = panel.steps.units;
  const taken = units.filter((unit) => draft.takes(unit.step, unit.hunk)).length;
  const focused = head.contains(document.activeElement) ? document.activeElement.textContent : null;
  const disabled = shown.isTrying;
  const isOpen = panel.isOpen();
  const actions = isOpen
    ? [
        shown.isTrying ? button("Stop", () => decisions.stop(), { kind: "danger" }) : button("Try choice", keys.t.run, { key: "t" }),
        button("Land", keys.l.run, { key: "l", kind: "primary", disabled }),
        button("Send back with comments", keys.b.run, { key: "b", disabled }),
      ]
    : [panel.view.readable().length > 0 && button("Next proposal", () => panel.view.next().catch(problem), { kind: "primary" })];
  fill(
    head,
    el("h1", { tabindex: "-1" }, el("span", { class: "faint" }, `${shown.id}  `), shown.subject),
    el("p", { class: "faint" }, `${cameFrom(shown)} · `, time(shown.cameAt * 1000), STATES[shown.state] && el("strong", {}, ` · ${STATES[shown.state]}`)),
    isOpen && el("p", { class: "taken" }, `${taken} of ${plural(units.length, "part")} taken, ${plural(draft.comments.length, "comment")}`, shown.isTried && el("span", { class: "faint" }, " · the differences are those of a real trial")),
    isOpen && shown.dropped.length > 0 && el("details", { class: "dropped" }, el("summary", {}, `${plural(shown.dropped.length, "step")} of your last review not proposed again`), el("ul", {}, shown.dropped.map((title) => el("li", {}, title)))),
    el("div", { class: "row actions" }, actions, looks(panel)),
    shown.review && el("details", { open: true }, el("summary", {}, "What the model reads"), el("pre", { class: "text", tabindex: "0", "aria-label": "Review for the model" }, shown.review)),
  );
  if (focused) [...head.querySelectorAll("button")].find((one) => one.textContent === focused)?.focus({ preventScroll: true });
}

function looks({ look, keys }) {
  const beside = button("Side by side", keys.s.run, { key: "s", kind: "small wide-only" });
  const files = button("For reading", keys.o.run, { key: "o", kind: "small" });
  beside.setAttribute("aria-pressed", String(look.isSideBySide));
  files.setAttribute("aria-pressed", String(look.order === "files"));
  return el("span", { class: "row looks" }, beside, files);
}
