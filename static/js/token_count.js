// Counts tokens while one types.
const LETTERS_A_TOKEN = 4;

function count(field) {
  const words = field.closest("[data-counting]")?.dataset.counting;
  const place = document.getElementById(field.dataset.counts);
  if (words && place) {
    const letters = [...field.value].length;
    place.textContent = words.replace("{n}", Math.ceil(letters / LETTERS_A_TOKEN));
  }
}

document.addEventListener("input", ({ target }) => {
  if (target.matches("[data-counts]")) count(target);
});

// What was typed before this was there.
document.querySelectorAll("[data-counts]").forEach(count);
