// Text that is being written and is not saved: kept on this device, and not left unawares.
// A session that has ended, a lost connection or a closed tab must not cost anybody a page.
import { keepDraft, readDraft } from "./drafts.js";

const form = document.querySelector("form[data-keeps]");
const offer = document.getElementById("brought-back");
const PAUSE = 300;
// A token belongs to one sign-in, and which language is shown is not text.
const PASSING = new Set(["csrf_token", "shown"]);

let sending = false;
let isLeft = false;
let timer = 0;

function fields() {
  return [...form.elements].filter((one) => one.name && one.type !== "submit" && !PASSING.has(one.name));
}

function typed() {
  return fields().map((one) => [one.name, "checked" in one && /^(checkbox|radio)$/.test(one.type) ? one.checked : one.value]);
}

function put(values) {
  const waiting = [...values];
  for (const one of fields()) {
    const place = waiting.findIndex(([name]) => name === one.name);
    if (place < 0) continue;
    const [[, value]] = waiting.splice(place, 1);
    if (typeof value === "boolean") one.checked = value;
    else one.value = value;
  }
}

function kept() {
  try {
    return JSON.parse(readDraft(form.dataset.keeps) || "null");
  } catch {
    return null;
  }
}

const saved = JSON.stringify(typed());

function isUnsaved() {
  return "unsaved" in form.dataset || JSON.stringify(typed()) !== saved;
}

function keep() {
  clearTimeout(timer);
  if (isLeft) return;
  keepDraft(form.dataset.keeps, isUnsaved() ? JSON.stringify(typed()) : "");
}

function bringBack() {
  const values = kept();
  if (!values || JSON.stringify(values) === saved) return;
  const before = JSON.parse(saved);
  put(values);
  offer.hidden = false;
  document.getElementById("forget-typed").addEventListener("click", () => {
    put(before);
    keepDraft(form.dataset.keeps, "");
    offer.hidden = true;
    form.querySelector("input:not([type=hidden]), textarea").focus();
  });
}

if ("saved" in form.dataset) keepDraft(form.dataset.keeps, "");
else if (!("unsaved" in form.dataset)) bringBack();
// Old addresses of "saved" must not throw away what is typed after it.
if ("saved" in form.dataset) history.replaceState(history.state, "", location.pathname);

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(keep, PAUSE);
});
form.addEventListener("submit", () => {
  keep();
  sending = true;
});
// Kitchen phones are shared: who signs out leaves nothing behind.
document.addEventListener("submit", ({ target }) => {
  if (!target.matches("[data-signs-out]")) return;
  isLeft = sending = true;
  clearTimeout(timer);
});
window.addEventListener("pageshow", () => (sending = false));
window.addEventListener("pagehide", keep);
window.addEventListener("beforeunload", (event) => {
  if (!sending && isUnsaved()) event.preventDefault();
});
