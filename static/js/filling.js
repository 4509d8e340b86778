// A form that is being filled in: saved while one types, and what could not be saved kept on
// this device until it is. The answers of the server are swapped in by htmx.
import { keepDraft, readDraft } from "./unsent.js";
import { icon } from "./texts.js";

const form = document.getElementById("fill");
const REST = 700;
const AFTER_CHOICE = 50;
const RETRY = 5000;
const TOO_MANY = 429;
const TYPED = /^v-/;

// The names of what was changed and not sent yet, and of what is on its way.
let waiting = new Set();
// The names of what this page keeps on the device.
let mine = new Set();
let onItsWay = null;
let timer = 0;
let leaving = false;
// Whether the server could not be reached.
let isAway = false;

function say(words, sign) {
  const told = document.getElementById("save-told");
  // The same words again would be read out again.
  if (told.textContent.trim() === words) return;
  told.replaceChildren(...(words ? [icon(sign), ` ${words}`] : []));
}

function controls(name) {
  return [...form.elements].filter((one) => one.name === name && one.type !== "submit");
}

/** What stands in the fields of these names, kept where it outlives the page; what other tabs keep stays. */
function keepOnly(names) {
  const data = new FormData(form);
  const values = readKept();
  for (const name of mine) delete values[name];
  for (const name of names) values[name] = data.getAll(name);
  mine = new Set(names);
  keepDraft(form.dataset.keeps, Object.keys(values).length ? JSON.stringify(values) : "");
}

function keep() {
  keepOnly([...waiting, ...(onItsWay ?? [])]);
}

function readKept() {
  try {
    return JSON.parse(readDraft(form.dataset.keeps) || "{}");
  } catch {
    return {};
  }
}

function schedule(pause) {
  clearTimeout(timer);
  timer = setTimeout(save, pause);
}

function save() {
  clearTimeout(timer);
  if (onItsWay || !waiting.size || leaving) return;
  onItsWay = waiting;
  waiting = new Set();
  say(form.dataset.saving, "clock");
  window.htmx.trigger(form, "save");
}

function changed(name, pause) {
  if (!TYPED.test(name)) return;
  waiting.add(name);
  // What was saved before this is no longer all that there is.
  if (!isAway) say(form.dataset.saving, "clock");
  keep();
  schedule(pause);
}

function settled(response) {
  const isSaved = response?.status < 300;
  if (!onItsWay.size) {
    // It was only asked what has arrived; what was typed meanwhile has waited for the answer.
    onItsWay = null;
    if (waiting.size) schedule(AFTER_CHOICE);
    return;
  }
  if (!isSaved) waiting = onItsWay.union?.(waiting) ?? new Set([...onItsWay, ...waiting]);
  onItsWay = null;
  if (isSaved) {
    // From now on it is known by the draft that it has become.
    keepOnly([]);
    form.dataset.keeps = form.dataset.keepsAs;
  }
  keep();
  if (isSaved && waiting.size) {
    say(form.dataset.saving, "clock");
    schedule(REST);
  }
  // What the server refuses it would refuse again; whether it is away is tried again.
  isAway = !isSaved && (!(response?.status < 500) || response.status === TOO_MANY);
  if (isAway) {
    say(form.dataset.kept, "cloud-off");
    schedule(RETRY);
  }
}

/** A choice of one of several people: taken at once, without a way over the server. */
function pick(button) {
  const field = button.closest("[data-field]");
  const input = field.querySelector("[data-person]");
  input.value = button.dataset.pick;
  document.getElementById(`${input.id}-contact`).value = button.value;
  document.getElementById(`people-${field.dataset.field}`).replaceChildren();
  input.focus();
  changed(input.name, 0);
}

function mark(notes) {
  const field = notes.closest("[data-field]");
  const isWrong = notes.dataset.wrong === "true";
  field.classList.toggle("field-wrong", isWrong);
  for (const one of field.querySelectorAll("[aria-describedby]")) {
    one.toggleAttribute("aria-invalid", isWrong);
    if (isWrong) one.setAttribute("aria-invalid", "true");
  }
}

/** Other files than a field shows: what they are is told when the server draws it anew. */
function bringFilesBack(uploads, name, kept) {
  const files = kept.filter(Boolean);
  const shown = controls(name).map((one) => one.value).filter(Boolean);
  if (files.join() === shown.join()) return;
  for (const item of uploads.querySelectorAll("[data-upload]")) item.remove();
  for (const [key, value] of [...files.map((file) => [name, file]), ["redraw", uploads.dataset.uploads]]) {
    uploads.append(Object.assign(document.createElement("input"), { type: "hidden", name: key, value }));
  }
}

/** What was on its way when the page was left may have arrived after the page was drawn again. */
function askWhatArrived() {
  const [navigation] = performance.getEntriesByType("navigation");
  if (onItsWay || waiting.size || !/^(reload|back_forward)$/.test(navigation?.type)) return;
  onItsWay = new Set();
  window.htmx.trigger(form, "save");
}

function put(there, kept) {
  const isChoice = there.some((one) => /^(checkbox|radio)$/.test(one.type));
  for (const [place, one] of there.entries()) {
    if (isChoice) one.checked = kept.includes(one.value);
    else one.value = kept[place] ?? "";
  }
}

function bringBack() {
  const values = readKept();
  mine = new Set(Object.keys(values));
  for (const [name, kept] of Object.entries(values)) {
    const there = controls(name);
    const uploads = there[0]?.closest("[data-uploads]");
    if (uploads) bringFilesBack(uploads, name, kept);
    else put(there, kept);
    if (there.length) waiting.add(name);
  }
  if (!waiting.size) return;
  say(form.dataset.broughtBack, "undo");
  schedule(REST);
}

/** What was typed before this script was there to hear it. */
function catchUp() {
  for (const one of form.querySelectorAll("input:not([type=hidden]), textarea")) {
    const isChoice = /^(checkbox|radio)$/.test(one.type);
    if (isChoice ? one.checked !== one.defaultChecked : one.value !== one.defaultValue) changed(one.name, REST);
  }
}

/** The fields of which something is typed that the server does not know yet. */
function unsaved(names) {
  const fields = [...names].map((name) => controls(name)[0]?.closest("[data-field]"));
  return new Set(fields.filter(Boolean));
}

// What is being typed is not taken away by what comes from elsewhere: it counts, once it is saved.
document.addEventListener("htmx:before:swap", ({ detail: { ctx, tasks } }) => {
  const own = ctx.sourceElement === form;
  const typed = unsaved(own ? waiting : [...waiting, ...(onItsWay ?? [])]);
  const kept = tasks.filter(({ target }) => typed.has(target) && !target.contains(ctx.sourceElement));
  for (const task of kept) tasks.splice(tasks.indexOf(task), 1);
  const names = kept.map(({ target }) => target.dataset.field);
  if (names.length) document.dispatchEvent(new CustomEvent("fields:kept", { detail: names }));
});
// The assistant is to know what was typed before.
document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  if (ctx.sourceElement.matches?.("[data-sends]")) save();
});

form.addEventListener("input", ({ target }) => {
  if (target.matches("[data-person]")) document.getElementById(`${target.id}-contact`).value = "";
  changed(target.name, REST);
});
form.addEventListener("change", ({ target }) => changed(target.name, AFTER_CHOICE));
form.addEventListener("click", (event) => {
  const button = event.target.closest("[data-pick]");
  if (!button) return;
  event.preventDefault();
  pick(button);
});
form.addEventListener("submit", (event) => {
  if (event.submitter?.matches("[data-enter]")) {
    event.preventDefault();
    save();
    return;
  }
  leaving = true;
});
// What is thrown away stays so: a save that came after it would bring it back.
document.addEventListener("submit", ({ target }) => {
  if (!target.matches("[data-discards]")) return;
  leaving = true;
  clearTimeout(timer);
});
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  if (ctx.sourceElement === form && onItsWay) settled(ctx.response);
});
document.addEventListener("htmx:after:swap", () => {
  for (const notes of form.querySelectorAll("[data-wrong]")) mark(notes);
});
window.addEventListener("online", save);
window.addEventListener("pageshow", () => (leaving = false));
// What is left within the pause goes along with whoever leaves.
document.addEventListener("visibilitychange", () => document.hidden && save());
bringBack();
catchUp();
window.addEventListener("load", askWhatArrived);
