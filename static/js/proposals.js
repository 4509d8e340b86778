// Answering a proposal: the focus stays with its card, and what became of it is said.
import { say } from "./announcer.js";
import { refreshBubble } from "./bubbles.js";

const SECOND_TAP = 700;
const SAID = ".ticket-head > span:not(.ticket-note), .proposal-summary, .decided p";
const answered = new WeakMap();
const changedAt = new WeakMap();

/** Read out what a card asks, or what became of it; other parts say nothing. */
export function sayCard(part) {
  if (!part.querySelector("[data-part-type=proposal], [data-part-type=receipt]")) return;
  for (const line of part.querySelectorAll(SAID)) say(line.textContent.replace(/\s+/g, " "));
}

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  const form = ctx.sourceElement;
  if (form.matches?.("[data-answers]")) answered.set(ctx, form.closest(".part"));
});
document.addEventListener("htmx:finally:request", async ({ detail: { ctx } }) => {
  const part = answered.get(ctx);
  if (!part || !ctx.response) return;
  if (ctx.response.status >= 400) {
    // It is not what it was when it was drawn: run out, or answered elsewhere.
    await refreshBubble(part.closest(".message").dataset.message);
  } else {
    changedAt.set(part, performance.now());
    sayCard(part);
  }
  if (document.activeElement === document.body) part.focus({ preventScroll: true });
});

document.addEventListener("click", (event) => {
  const part = event.target.closest?.(".part");
  if (part && event.detail && performance.now() - (changedAt.get(part) ?? -SECOND_TAP) < SECOND_TAP) {
    // The second tap of two was meant for the button that stood there before.
    event.preventDefault();
    event.stopPropagation();
  } else if (event.target.closest?.("[data-change-proposal]")) {
    event.preventDefault();
    document.getElementById("message").focus();
  }
}, true);
