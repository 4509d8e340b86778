// Bringing bubbles up to date. Events about a bubble that is on its way wait for it.
import { idle, timesSent } from "./in_flight.js";

const messages = document.getElementById("messages");
const composer = document.getElementById("composer");
const TRIES = [0, 1000, 3000];
const held = new Map();
// Bubbles that are on a branch which is not shown: nothing needs to be drawn of them.
const elsewhere = new Set();
let reloading = null;

export function findBubble(id) {
  return document.getElementById(`m-${id}`);
}

export function unfinished() {
  return messages.querySelectorAll("[data-status=streaming], [data-status=queued]");
}

// While a card that came with its answer also comes by itself, what is pressed in it is dropped.
function stopWaiting(bubble) {
  bubble.querySelectorAll(".part:empty").forEach((part) => part.dispatchEvent(new Event("htmx:abort")));
}

/** Fetch `address` into `element`, which is also the request's source; true when it was told. */
export async function load(address, element, swap) {
  let arrived = false;
  // Before the swap: after it the element may be gone, and its events with it.
  const note = ({ detail: { ctx } }) => {
    if (ctx.sourceElement !== element) return;
    arrived = ctx.response.status < 300;
    if (arrived) stopWaiting(element);
  };
  element.addEventListener("htmx:before:response", note);
  await window.htmx.ajax("GET", address, { source: element, target: element, swap });
  element.removeEventListener("htmx:before:response", note);
  return arrived;
}

// A failed answer must not take the place of a bubble; it is asked for again instead.
document.addEventListener("htmx:before:swap", (event) => {
  const { ctx } = event.detail;
  const own = ctx.sourceElement.closest?.("#messages") && ctx.sourceElement.localName !== "form";
  if (own && ctx.response?.status >= 400) event.preventDefault();
});

async function loadPatiently(address, element, swap) {
  for (const delay of TRIES) {
    await new Promise((resolve) => setTimeout(resolve, delay));
    if (await load(address, element, swap)) return true;
  }
  return false;
}

async function during(id, work) {
  const waiting = held.get(id) ?? [];
  held.set(id, waiting);
  await work();
  held.delete(id);
  const bubble = findBubble(id);
  if (bubble) for (const act of waiting) act(bubble);
}

async function bring(id) {
  // This tab's own message comes with the answer to its post, and must not come twice.
  await idle();
  if (findBubble(id)) return;
  const place = document.createElement("div");
  place.dataset.coming = id;
  // Ids tell the order in which messages were stored, whoever heard of them first.
  const others = [...messages.querySelectorAll("[data-message], [data-coming]")];
  const after = others.find(({ dataset }) => (dataset.message ?? dataset.coming) > id);
  if (after) after.before(place);
  else messages.append(place);
  const address = `${composer.dataset.messages}/${id}?missed`;
  const told = await loadPatiently(address, place, "outerHTML");
  // Still there: it did not come, or it is on a branch that is not shown.
  place.remove();
  if (told && !findBubble(id)) elsewhere.add(id);
}

/** Call `act` with the message's bubble as soon as it is there, fetching it if need be. */
export function withBubble(id, act) {
  const bubble = findBubble(id);
  if (reloading) reloading.then(() => withBubble(id, act));
  else if (held.has(id)) held.get(id).push(act);
  else if (bubble) act(bubble);
  else if (!elsewhere.has(id)) {
    held.set(id, [act]);
    during(id, () => bring(id));
  }
}

function refreshAgain(bubble) {
  refreshBubble(bubble.dataset.message);
}

/** Fetch a bubble anew; what is said about it meanwhile is applied after. */
export async function refreshBubble(id) {
  await reloading;
  const bubble = findBubble(id);
  if (!bubble) return;
  if (held.has(id)) {
    // What is on its way may have been drawn before that which is asked for now.
    const waiting = held.get(id);
    if (!waiting.includes(refreshAgain)) waiting.push(refreshAgain);
    return;
  }
  await during(id, () => loadPatiently(bubble.dataset.url, bubble, "outerMorph"));
}

/** Fetch anew the messages whose cards still offer something: it may have been answered. */
export async function refreshOffers() {
  // What was answered here comes with the answer to its post.
  await idle();
  for (const card of messages.querySelectorAll("[data-open]")) {
    const { dataset } = card.closest(".message");
    if (dataset.status !== "streaming") refreshBubble(dataset.message);
  }
}

// True where nothing was sent meanwhile; else what came is older than the page, and not drawn.
async function drawMessages() {
  const before = timesSent();
  const isLate = () => timesSent() !== before;
  const drop = (event) => {
    if (event.detail.ctx.sourceElement.id === messages.id && isLate()) event.preventDefault();
  };
  document.addEventListener("htmx:before:swap", drop);
  await window.htmx.ajax("GET", location.pathname, {
    source: messages,
    target: messages,
    select: "#messages",
    swap: "outerMorph",
  });
  document.removeEventListener("htmx:before:swap", drop);
  return !isLate();
}

async function fetchMessages(after) {
  await after;
  do await idle();
  while (!(await drawMessages()));
  elsewhere.clear();
}

/** Fetch the conversation anew; what is said meanwhile is applied after. */
export function reloadMessages() {
  const mine = fetchMessages(reloading);
  reloading = mine;
  mine.finally(() => {
    if (reloading === mine) reloading = null;
  });
  return mine;
}
