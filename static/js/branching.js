// Other versions: having a reply made again, and going from one version of a message to another.
import { say } from "./announcer.js";
import { findBubble } from "./bubbles.js";
import { followQuestion, keepInPlace } from "./scroll.js";
import { resume } from "./stream_events.js";

const messages = document.getElementById("messages");
// What to do when the other branch is there, by request.
const after = new WeakMap();

/** The chosen version stands where the other one did, and the focus stays with the switch. */
function arrive(id, top, at) {
  const bubble = findBubble(id);
  const form = bubble?.querySelector("[data-switches]");
  if (!form) return;
  keepInPlace(bubble, top);
  const buttons = form.querySelectorAll("button");
  (buttons[at].disabled ? buttons[1 - at] : buttons[at]).focus({ preventScroll: true });
  say(form.querySelector("[role=img]").getAttribute("aria-label"));
}

function followReply() {
  followQuestion();
  [...messages.querySelectorAll("[data-role=assistant]")].at(-1)?.focus({ preventScroll: true });
}

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  const form = ctx.sourceElement;
  if (form.matches?.("[data-asks-again]")) after.set(ctx, followReply);
  if (!form.matches?.("[data-switches]")) return;
  const id = ctx.request.body.get("message_id");
  const at = [...form.querySelectorAll("button")].findIndex((button) => button.value === id);
  const { top } = form.closest(".message").getBoundingClientRect();
  after.set(ctx, () => arrive(id, top, at));
});
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  if (!(ctx.response?.status < 300) || !after.has(ctx)) return;
  resume();
  after.get(ctx)();
});
