// Text that is being written and is not saved: kept on this device, and not left unawares.
// A session that has ended, a lost connection or a closed tab must not cost anybody a page.
import { forgetArrived, forgetSent, keepDraft, readDraft, rememberSent } from "./unsent.js";

const offer = document.getElementById("brought-back");
const PAUSE = 300;
// A token belongs to one sign-in, and which language is shown is not text; an id that was given
// to something new is used up when that is saved. Who is on a team is not text either.
const PASSING = new Set([
  "csrf_token",
  "shown",
  "section_id",
  "product_id",
  "begun_id",
  "message_key",
  "key",
  "v-receipt",
  "was",
  "members",
]);

let sending = false;
let isLeft = false;

function fieldsOf(form) {
  return [...form.elements].filter((one) => one.name && !/^(submit|file)$/.test(one.type) && !PASSING.has(one.name));
}

function typedIn(form) {
  return fieldsOf(form).map((one) => [one.name, "checked" in one && /^(checkbox|radio)$/.test(one.type) ? one.checked : one.value]);
}

function put(form, values) {
  const waiting = [...values];
  for (const one of fieldsOf(form)) {
    const place = waiting.findIndex(([name]) => name === one.name);
    if (place < 0) continue;
    const [[, value]] = waiting.splice(place, 1);
    if (typeof value === "boolean") one.checked = value;
    else one.value = value;
  }
}

/** One form of the page, with what of it is kept on this device. */
class Kept {
  constructor(form) {
    this.form = form;
    this.name = form.dataset.keeps;
    this.saved = JSON.stringify(typedIn(form));
    // Whether what is kept on this device is this page's.
    this.isMine = false;
    this.timer = 0;
  }

  get isUnsaved() {
    return "unsaved" in this.form.dataset || JSON.stringify(typedIn(this.form)) !== this.saved;
  }

  keep() {
    clearTimeout(this.timer);
    if (isLeft) return;
    const words = this.isUnsaved ? JSON.stringify(typedIn(this.form)) : "";
    // What another tab has kept is not this one's to throw away.
    if (words || this.isMine) keepDraft(this.name, words);
    this.isMine = Boolean(words);
  }

  begin() {
    if ("saved" in this.form.dataset) {
      keepDraft(this.name, "");
      forgetSent(this.name);
    } else if ("unsaved" in this.form.dataset) {
      this.keep();
      forgetSent(this.name);
    } else this.bringBack();
    this.form.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.keep(), PAUSE);
    });
    this.form.addEventListener("submit", () => {
      this.keep();
      rememberSent(this.name);
      sending = true;
    });
  }

  read() {
    try {
      return JSON.parse(readDraft(this.name) || "null");
    } catch {
      return null;
    }
  }

  bringBack() {
    const values = this.read();
    if (!values || JSON.stringify(values) === this.saved) return;
    put(this.form, values);
    this.isMine = true;
    this.form.closest("details")?.setAttribute("open", "");
    for (const folded of this.form.querySelectorAll("details")) folded.open = true;
    offer.hidden = false;
    document.getElementById("forget-typed").addEventListener("click", () => {
      put(this.form, JSON.parse(this.saved));
      keepDraft(this.name, "");
      offer.hidden = true;
      this.form.querySelector("input:not([type=hidden]), textarea").focus();
    });
  }
}

forgetArrived();
const forms = [...document.querySelectorAll("form[data-keeps]")].map((form) => new Kept(form));
for (const each of forms) each.begin();
// Old addresses of "saved" must not throw away what is typed after it.
if (document.querySelector("form[data-saved]")) history.replaceState(history.state, "", location.pathname);

// Kitchen phones are shared: who signs out leaves nothing behind.
document.addEventListener("submit", ({ target }) => {
  if (!target.matches("[data-signs-out]")) return;
  isLeft = sending = true;
  for (const each of forms) clearTimeout(each.timer);
});
window.addEventListener("pageshow", () => (sending = false));
window.addEventListener("pagehide", () => {
  for (const each of forms) each.keep();
});
window.addEventListener("beforeunload", (event) => {
  if (!sending && forms.some((each) => "warns" in each.form.dataset && each.isUnsaved)) event.preventDefault();
});
