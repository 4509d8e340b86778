// Text that is being written and is not saved: kept on this device, and not left unawares.
// A session that has ended, a lost connection or a closed tab must not cost anybody a page.
import { forgetArrived, forgetSent, rememberSent } from "./sent_forms.js";
import { keepDraft, readDraft } from "./unsent.js";

const PAUSE = 300;
// What makes the server take what is sent twice for one, and an id that was given to something new.
const KEYS = ["key", "message_key", "begun_id", "product_id", "section_id"];
// A token belongs to one sign-in, and which language is shown is not text; a key is used up when
// what it came with is saved. Who is on a team is not text either.
const PASSING = new Set([...KEYS, "csrf_token", "shown", "v-receipt", "was", "members"]);

let sending = false;
let isLeft = false;

function fieldsOf(form) {
  return [...form.elements].filter(
    (one) => one.name && !/^(submit|file)$/.test(one.type) && !PASSING.has(one.name) && !one.closest("[data-unkept]"),
  );
}

function typedIn(form) {
  return fieldsOf(form).map((one) => [one.name, "checked" in one && /^(checkbox|radio)$/.test(one.type) ? one.checked : one.value]);
}

function keyFields(form) {
  return [...form.elements].filter((one) => KEYS.includes(one.name));
}

/** Put values into the fields that there are; returns those that have none. */
function put(form, values) {
  const waiting = [...values];
  for (const one of fieldsOf(form)) {
    const place = waiting.findIndex(([name]) => name === one.name);
    if (place < 0) continue;
    const [[, value]] = waiting.splice(place, 1);
    const what = typeof value === "boolean" ? "checked" : "value";
    if (one[what] === value) continue;
    one[what] = value;
    one.dispatchEvent(new Event("input", { bubbles: true }));
  }
  return waiting;
}

/** One more row like the last that has a field of this name; nothing where there are no rows. */
function addRow(form, name) {
  const last = fieldsOf(form).filter((one) => one.name === name).at(-1)?.closest("[data-row]");
  if (!last) return undefined;
  const row = last.cloneNode(true);
  for (const one of [row, ...row.querySelectorAll("*")].filter((each) => each.name)) {
    one.value = "";
    one.setAttribute("aria-label", one.getAttribute("aria-label").replace(/\d+/, (number) => Number(number) + 1));
  }
  last.after(row);
  return row;
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
    // What was sent last, and with which keys, as long as no answer has come.
    this.sent = null;
    // What is kept and has no field here, and the rows that were made for what had none.
    this.left = [];
    this.rows = [];
  }

  get isUnsaved() {
    return "unsaved" in this.form.dataset || JSON.stringify(typedIn(this.form)) !== this.saved;
  }

  keep() {
    clearTimeout(this.timer);
    if (isLeft) return;
    const isWorth = this.isUnsaved || this.left.length > 0;
    // What another tab has kept is not this one's to throw away.
    if (isWorth) keepDraft(this.name, JSON.stringify({ words: [...typedIn(this.form), ...this.left], sent: this.sent }));
    else if (this.isMine) keepDraft(this.name, "");
    this.isMine = isWorth;
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
    this.form.addEventListener("submit", () => this.send());
  }

  /** The same words go with the keys that they were sent with: of an answer that was lost on its way nobody knows. */
  send() {
    const words = JSON.stringify(typedIn(this.form));
    const keys = keyFields(this.form);
    if (this.sent?.words === words) {
      for (const one of keys) one.value = this.sent.keys[one.name] ?? one.value;
    } else this.sent = { words, keys: Object.fromEntries(keys.map((one) => [one.name, one.value])) };
    this.keep();
    // What htmx sends leaves no page.
    if (this.form.hasAttribute("hx-post")) return;
    rememberSent(this.name);
    sending = true;
  }

  read() {
    try {
      return JSON.parse(readDraft(this.name) || "null");
    } catch {
      return null;
    }
  }

  bringBack() {
    const kept = this.read();
    // Words alone were kept before keys were.
    const { words: values, sent } = Array.isArray(kept) ? { words: kept } : (kept ?? {});
    if (!values || JSON.stringify(values) === this.saved) return;
    this.sent = sent ?? null;
    this.fill(values);
    this.isMine = true;
    this.form.closest("details")?.setAttribute("open", "");
    for (const folded of this.form.querySelectorAll("details")) folded.open = true;
    this.offer();
  }

  /** Rows are made for as long as that makes room for anything that is left over. */
  fill(values) {
    let row;
    do {
      this.left = put(this.form, values);
      row = undefined;
      for (const [name] of this.left) row ??= addRow(this.form, name);
      if (row) this.rows.push(row);
    } while (row);
  }

  offer() {
    const told = this.form.querySelector("[data-brought-back]") ?? document.getElementById("brought-back");
    told.hidden = false;
    told.querySelector("button").addEventListener("click", () => {
      this.forget();
      told.hidden = true;
      this.form.querySelector("input:not([type=hidden]), textarea").focus();
    });
  }

  forget() {
    for (const row of this.rows) row.remove();
    [this.rows, this.left, this.sent] = [[], [], null];
    put(this.form, JSON.parse(this.saved));
    clearTimeout(this.timer);
    keepDraft(this.name, "");
  }
}

let forms = [];

function beginAll() {
  const known = new Set(forms.map((each) => each.form));
  const found = [...document.querySelectorAll("form[data-keeps]")].filter((form) => !known.has(form));
  for (const kept of found.map((form) => new Kept(form))) {
    forms.push(kept);
    kept.begin();
  }
}

forgetArrived();
beginAll();
// Old addresses of "saved" must not throw away what is typed after it.
if (document.querySelector("form[data-saved]")) history.replaceState(history.state, "", location.pathname);

// htmx takes forms away and brings others; what it has sent has arrived when it is answered so.
document.addEventListener("htmx:after:swap", () => {
  for (const gone of forms.filter(({ form }) => !form.isConnected)) clearTimeout(gone.timer);
  forms = forms.filter(({ form }) => form.isConnected);
  beginAll();
});
document.addEventListener("htmx:after:request", ({ detail: { ctx } }) => {
  const { sourceElement, response } = ctx;
  if (sourceElement.matches?.("form[data-keeps]") && response?.status < 300) keepDraft(sourceElement.dataset.keeps, "");
});
// Whoever closes a form that was opened in its place wants nothing of it.
document.addEventListener("click", ({ target }) => {
  const form = target.closest("[data-closes]")?.closest("form[data-keeps]");
  forms.find((each) => each.form === form)?.forget();
});

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
