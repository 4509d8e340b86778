// Text that is being written and is not saved: kept on this device, and not left unawares.
// A session that has ended, a lost connection or a closed tab must not cost anybody a page.
import { keepDraft, readDraft } from "./unsent.js";

const form = document.querySelector("form[data-keeps]");
const offer = document.getElementById("brought-back");
const PAUSE = 300;
// A token belongs to one sign-in, and which language is shown is not text; an id that was given
// to something new is used up when that is saved.
const PASSING = new Set(["csrf_token", "shown", "section_id", "product_id"]);
// Under which name the form that was sent last is kept: the page that follows may have another.
const SENT = "comanda:sent";

let sending = false;
let isLeft = false;
// Whether what is kept on this device is this page's.
let isMine = false;
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
  const words = isUnsaved() ? JSON.stringify(typed()) : "";
  // What another tab has kept is not this one's to throw away.
  if (words || isMine) keepDraft(form.dataset.keeps, words);
  isMine = Boolean(words);
}

function bringBack() {
  const values = kept();
  if (!values || JSON.stringify(values) === saved) return;
  const before = JSON.parse(saved);
  put(values);
  isMine = true;
  offer.hidden = false;
  document.getElementById("forget-typed").addEventListener("click", () => {
    put(before);
    keepDraft(form.dataset.keeps, "");
    offer.hidden = true;
    form.querySelector("input:not([type=hidden]), textarea").focus();
  });
}

function remember(name) {
  try {
    sessionStorage.setItem(SENT, name);
  } catch {
    // Storage may be full or forbidden: then the text is offered once more.
  }
}

// What was sent is in this page now, saved or shown again, and no longer where it was kept.
function forgetSent() {
  try {
    const name = sessionStorage.getItem(SENT);
    if (name && name !== form.dataset.keeps) keepDraft(name, "");
    sessionStorage.removeItem(SENT);
  } catch {
    // Nothing was remembered.
  }
}

if ("saved" in form.dataset) {
  keepDraft(form.dataset.keeps, "");
  forgetSent();
} else if ("unsaved" in form.dataset) {
  keep();
  forgetSent();
} else bringBack();
// Old addresses of "saved" must not throw away what is typed after it.
if ("saved" in form.dataset) history.replaceState(history.state, "", location.pathname);

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(keep, PAUSE);
});
form.addEventListener("submit", () => {
  keep();
  remember(form.dataset.keeps);
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
