// Counts tokens while one types, and warns before words that are not saved are left behind.
const LETTERS_A_TOKEN = 4;
let changed = false;

function count(field) {
  const words = field.closest("[data-counting]")?.dataset.counting;
  const place = document.getElementById(field.dataset.counts);
  if (words && place) {
    const letters = [...field.value].length;
    place.textContent = words.replace("{n}", Math.ceil(letters / LETTERS_A_TOKEN));
  }
}

document.addEventListener("input", ({ target }) => {
  if (!target.matches("[data-counts]")) return;
  changed = true;
  count(target);
});
document.addEventListener("submit", ({ target }) => {
  if (target.matches(".prompt-form")) changed = false;
});
window.addEventListener("beforeunload", (event) => {
  if (changed) event.preventDefault();
});
