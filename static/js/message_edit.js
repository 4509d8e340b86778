// Changing an earlier message: the composer takes its words, and what is sent takes its place.
import { setWords } from "./composer.js";

const form = document.getElementById("composer");
const field = document.getElementById("message");
const banner = document.getElementById("editing");
// What was being typed when the change began; it comes back when the change is over.
let typed = "";

function begin(id, words) {
  if (banner.hidden) typed = field.value;
  form.elements.edits.value = id;
  banner.hidden = false;
  setWords(words);
  field.focus();
  field.setSelectionRange(words.length, words.length);
}

function end() {
  form.elements.edits.value = "";
  banner.hidden = true;
  setWords(typed);
  typed = "";
}

document.addEventListener("click", (event) => {
  const edit = event.target.closest("[data-edit]");
  if (edit) {
    event.preventDefault();
    begin(edit.dataset.edit, edit.closest(".message").querySelector(".bubble").textContent);
  } else if (event.target.closest("#editing a")) {
    event.preventDefault();
    end();
    field.focus();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !banner.hidden && event.target === field) end();
});
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  if (ctx.sourceElement !== form || banner.hidden || !(ctx.response?.status < 300)) return;
  // Whatever was typed while the message was on its way is the next one.
  if (field.value) typed = field.value;
  end();
});
