// The form builder: what is not saved is not left unawares and outlives the page on this device;
// after each button the focus is where one goes on.
import { keepDraft, readDraft } from "./unsent.js";

const form = document.getElementById("builder");
const offer = document.getElementById("brought-back");
const PAUSE = 300;
// These belong to a sign-in, or to the page as it stands.
const PASSING = new Set(["csrf_token", "do"]);

let timer = 0;
let leaving = false;
// Whether what is kept on this device is this page's.
let isMine = false;
// Where the focus was when a button was pressed.
let place = "";
// While one button is at work, the next one waits: it is to see what that has done.
let busy = false;
let next = "";

function worked() {
  const data = [...new FormData(form)].filter(([name]) => !PASSING.has(name));
  return new URLSearchParams(data).toString();
}

let saved = worked();

function isUnsaved() {
  return "unsaved" in document.getElementById("work").dataset || worked() !== saved;
}

function keep() {
  clearTimeout(timer);
  const words = isUnsaved() && !leaving ? worked() : "";
  // What another tab has kept is not this one's to throw away.
  if (words || isMine) keepDraft(form.dataset.keeps, words);
  isMine = Boolean(words);
}

/** The page as it was when it was left, drawn by the server like anything else. */
function bringBack() {
  const kept = readDraft(form.dataset.keeps);
  if (!kept || kept === saved) return;
  const values = new FormData();
  for (const [name, value] of new URLSearchParams(kept)) values.append(name, value);
  values.append("csrf_token", form.elements.csrf_token.value);
  const before = form.querySelector("#work");
  for (const field of before.querySelectorAll("[name]")) field.disabled = true;
  const carried = [...values].filter(([name]) => name !== "csrf_token").map(([name, value]) => {
    const input = Object.assign(document.createElement("input"), { type: "hidden", name, value });
    form.append(input);
    return input;
  });
  offer.hidden = false;
  form.requestSubmit(form.querySelector("[data-enter]"));
  for (const input of carried) input.remove();
}

/** The field that is open, in the preview beside it; a phone has the preview below. */
function showEdited() {
  const sheets = document.querySelector(".builder-preview");
  // Not everything that has fields has a preview.
  if (!sheets) return;
  const edited = [...sheets.querySelectorAll(".is-edited")].find((one) => one.offsetParent);
  if (!edited || getComputedStyle(sheets).overflowY !== "auto") return;
  sheets.scrollTop += edited.getBoundingClientRect().top - sheets.getBoundingClientRect().top - 64;
}

/** Where one goes on, as the server says. */
function findAim() {
  return document.querySelector("#work :is([data-first-error], [data-focus])");
}

function afterSwap() {
  const work = document.getElementById("work");
  if (!("unsaved" in work.dataset)) saved = worked();
  keep();
  showEdited();
  (findAim() ?? document.getElementById(place))?.focus();
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(keep, PAUSE);
});
form.addEventListener("submit", (event) => {
  const { submitter } = event;
  if (busy) {
    event.preventDefault();
    event.stopImmediatePropagation();
    next = submitter?.id ?? "";
    return;
  }
  busy = true;
  const pressed = submitter?.matches("[data-enter]") ? document.activeElement : submitter;
  place = pressed?.id ?? "";
}, { capture: true });
// What cannot go further up or down stays reachable, and does nothing.
form.addEventListener("click", (event) => {
  if (event.target.closest("button[aria-disabled=true]")) event.preventDefault();
});
document.addEventListener("htmx:after:swap", ({ detail }) => {
  const { ctx } = detail;
  if (ctx && form.contains(ctx.sourceElement) || ctx?.sourceElement === form) afterSwap();
  else showEdited();
});
document.getElementById("forget-work").addEventListener("click", () => {
  leaving = true;
  keepDraft(form.dataset.keeps, "");
  location.assign(location.pathname);
});
document.addEventListener("submit", ({ target }) => {
  // Whoever signs out leaves nothing behind on a shared device.
  if (target.matches("[data-signs-out]")) leaving = true;
});
window.addEventListener("pagehide", keep);
window.addEventListener("beforeunload", (event) => {
  if (!leaving && isUnsaved()) event.preventDefault();
});
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  if (ctx.sourceElement !== form) return;
  // If the server could not be reached, what stands on the page is still worked on.
  for (const field of form.querySelectorAll("[name]:disabled")) field.disabled = false;
  busy = false;
  const waiting = document.getElementById(next);
  next = "";
  waiting?.click();
});
// htmx begins to listen when the document is read.
document.addEventListener("DOMContentLoaded", () => setTimeout(() => {
  // Whoever pressed a button before the page could listen has a new page, and goes on there too.
  if (document.activeElement === document.body) findAim()?.focus();
  if ("unsaved" in document.getElementById("work").dataset) keep();
  else bringBack();
}));
