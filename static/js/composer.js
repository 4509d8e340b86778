// Writing and sending: drafts, Enter, the key of each message, and stop in the place of send.
import { keepDraft, readDraft } from "./unsent.js";
import { followQuestion } from "./scroll.js";
import { icon, text } from "./texts.js";

const form = document.getElementById("composer");
const field = document.getElementById("message");
const note = document.getElementById("composer-note");
const problem = document.getElementById("composer-error");
const stop = form.querySelector(".halt");
const LIMIT = 4000;
const TELL_FROM = 3500;
const LINES = 140;
const COMING = "[data-status=queued], [data-status=streaming]";

// The last message that may or may not have arrived: sent again, it keeps its key.
let tried = {};
let countdown = 0;

function busy() {
  return form.hasAttribute("aria-busy");
}

function draftName() {
  return `${form.dataset.person}:${form.dataset.new ?? form.dataset.thread}`;
}

function newKey() {
  // randomUUID needs a secure address; a restaurant's own network may not have one.
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function measure() {
  const words = field.value;
  form.toggleAttribute("data-empty", !words.trim());
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, LINES)}px`;
  // Counted as the server counts: a character of the astral planes is one.
  const length = [...words.trim()].length;
  note.hidden = length < TELL_FROM;
  note.classList.toggle("over", length > LIMIT);
  if (!note.hidden) {
    note.textContent = length > LIMIT ? text("tooLong") : text("charactersLeft", LIMIT - length);
  }
}

/** What is typed is a draft, unless it is to take the place of an earlier message. */
function keepTyped() {
  if (!form.elements.edits.value) keepDraft(draftName(), field.value);
}

/** Put words into the field, as if they had been typed. */
export function setWords(words) {
  field.value = words;
  keepTyped();
  measure();
}

/** Show stop while an answer is being written, send otherwise. */
export function showRunning(running) {
  if (!running && document.activeElement === stop) field.focus();
  form.toggleAttribute("data-running", running);
  stop.hidden = !running;
  stop.disabled = false;
}

function complain(words) {
  const box = document.createElement("div");
  const line = document.createElement("p");
  box.className = "notice notice-stop";
  box.setAttribute("role", "alert");
  line.textContent = words;
  box.append(icon("alert"), line);
  problem.replaceChildren(box);
}

function waitAndTell(seconds) {
  const line = document.createElement("p");
  line.className = "message-state";
  problem.append(line);
  const tick = () => {
    line.textContent = seconds > 0 ? text("wait", seconds) : "";
    if (seconds-- <= 0) clearInterval(countdown);
  };
  clearInterval(countdown);
  countdown = setInterval(tick, 1000);
  tick();
}

function accepted(source) {
  const sent = tried.words;
  clearInterval(countdown);
  problem.replaceChildren();
  tried = {};
  // Whatever was typed while the message was on its way is the next one.
  if (source === form && field.value === sent) setWords("");
  if ("new" in form.dataset) {
    // The draft of a chat that had no name yet moves to the one that has.
    keepDraft(draftName(), "");
    delete form.dataset.new;
    if (field.value) keepDraft(draftName(), field.value);
  }
  showRunning(true);
}

/** A message stands in the conversation: if it seemed not to have been sent, it was. */
export function arrived(key) {
  if (key && key === tried.key) accepted(tried.source);
}

function refused(response) {
  clearInterval(countdown);
  // More was said meanwhile: it has to be seen before it can be answered.
  if (response.status === 409) document.dispatchEvent(new Event("chat:behind"));
  // Waiting mends nothing that is wrong with the message itself.
  if (![429, 503].includes(response.status)) return;
  // A day's or a month's limit says itself when it opens again; its hours are not counted down.
  if (problem.querySelector("[data-code=limit]")) return;
  const wait = Number(response.headers.get("Retry-After"));
  if (wait > 0) waitAndTell(wait);
}

function on(name, act) {
  document.addEventListener(name, (event) => {
    const { detail } = event;
    const source = detail.ctx?.sourceElement;
    if (source?.matches?.("[data-sends]")) act(detail.ctx, source, event);
  });
}

on("htmx:config:request", ({ request }, source, event) => {
  if (busy()) {
    // One message at a time; what was typed after it stays in the field.
    event.preventDefault();
    return;
  }
  const words = request.body.get("message");
  const edits = request.body.get("edits") ?? "";
  if (words !== tried.words || edits !== tried.edits) tried = { words, edits, key: newKey() };
  tried.source = source;
  request.body.set("message_key", tried.key);
  // A yes is for what stands whole on this page.
  const shown = [...document.querySelectorAll("#messages [data-message]")];
  const coming = shown.findIndex((bubble) => bubble.matches(COMING));
  const last = (coming < 0 ? shown : shown.slice(0, coming)).at(-1);
  request.body.set("seen", last?.dataset.message ?? "");
});
on("htmx:before:request", () => {
  form.setAttribute("aria-busy", "true");
  followQuestion();
});
on("htmx:error", () => {
  complain(text("notSent"));
});
on("htmx:finally:request", ({ response }, source) => {
  form.removeAttribute("aria-busy");
  if (!response) return;
  if (response.status < 300) {
    accepted(source);
    followQuestion();
  } else refused(response);
  if (source === form && document.activeElement === document.body) field.focus();
});

field.addEventListener("input", () => {
  keepTyped();
  measure();
});
field.addEventListener("keydown", (event) => {
  // An Enter that ends the composition of a character (229 in older browsers) is not a send.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  if (field.value.trim()) form.requestSubmit();
});
document.getElementById("stop").addEventListener("submit", () => (stop.disabled = true));
// Every message names its chat's address; only the first one is a step in the history.
document.addEventListener("htmx:before:history:update", (event) => {
  if (event.detail.history.path === location.pathname) event.preventDefault();
});

if (!field.value) field.value = readDraft(draftName());
measure();
// Beside something else, that is what one came for.
const isMain = !("beside" in form.dataset);
if (isMain && window.matchMedia("(hover: hover) and (min-width: 960px)").matches) field.focus();
