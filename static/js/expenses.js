// The ledger: what is narrowed is told, a time is said once, and a photo of a receipt fills in
// what is empty. Everything else is htmx and plain forms.
const announcer = document.getElementById("announcer");

// Words for a time and two dates would contradict each other: who writes one clears the other.
document.addEventListener("input", ({ target }) => {
  delete target.dataset.preset;
  if (!target.dataset.clears || !target.value) return;
  for (const id of target.dataset.clears.split(" ")) document.getElementById(`f-${id}`).value = "";
});

/** How many rows are left, once the typing rests. */
let known = document.getElementById("ledger");
let telling;
document.addEventListener("htmx:after:swap", ({ detail }) => {
  const ledger = document.getElementById("ledger");
  const told = document.getElementById("ledger-told");
  // What went wrong with one row is over when the next one is worked on.
  const isTold = [told, "#ledger-told"].includes(detail.ctx.target);
  if (told && !isTold && document.querySelector(".expense-row [autofocus]")) told.replaceChildren();
  if (!ledger || ledger === known) return;
  known = ledger;
  clearTimeout(telling);
  telling = setTimeout(() => (announcer.textContent = ledger.dataset.told), 400);
});

// Receipts that were asked about already: an upload that is taken away says the same as one that comes.
const asked = new Set();

document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-upload-none]")) return;
  const form = target.closest("form[data-reads]");
  const box = form?.querySelector(".upload-keep");
  if (!box || asked.has(box.value) || !form.querySelector(".upload img")) return;
  asked.add(box.value);
  read(form, box.value);
});

async function read(form, file) {
  const told = form.querySelector("[data-reading-told]");
  told.textContent = form.dataset.reading;
  let answer = { fields: {}, told: form.dataset.unread };
  try {
    const response = await fetch(form.dataset.reads, {
      method: "POST",
      headers: { "X-CSRFToken": document.querySelector("meta[name=csrf-token]").content },
      body: new URLSearchParams({ file }),
    });
    if (response.ok) answer = await response.json();
  } catch {
    // The connection is lost: what cannot be read is typed.
  }
  const filled = Object.entries(answer.fields).filter(([name, value]) => fill(form, name, value, answer.fields));
  told.textContent = filled.length || !Object.keys(answer.fields).length ? answer.told : "";
}

/** Put a value into a field that is still empty; a preset date is as good as empty. */
function fill(form, name, value, all) {
  // Not by form.elements: a list of its own has a method that is called "item".
  const field = form.querySelector(`[name="${name}"]`);
  if (!field || !isEmpty(form, field, all)) return false;
  field.value = value;
  delete field.dataset.preset;
  mark(form, field);
  return true;
}

function isEmpty(form, field, all) {
  if (field.name === "currency") {
    const isUntouched = field.selectedOptions[0]?.defaultSelected;
    return isUntouched && form.elements.amount.value === all.amount && field.value !== all.currency;
  }
  return !field.value.trim() || "preset" in field.dataset;
}

function mark(form, field) {
  const note = document.createElement("p");
  note.className = "field-help read-mark";
  note.id = `read-${field.id}`;
  note.textContent = form.dataset.mark;
  field.setAttribute("aria-describedby", `${field.getAttribute("aria-describedby") ?? ""} ${note.id}`.trim());
  field.closest(".field").append(note);
}
