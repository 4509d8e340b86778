// Finds sections and products by name while one types; accents and case do not matter.
const finder = document.getElementById("finder");
const found = document.getElementById("found");

function fold(words) {
  return words.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

function look(wanted) {
  let count = 0;
  for (const chapter of document.querySelectorAll(".chapter")) {
    let here = 0;
    for (const entry of chapter.querySelectorAll("[data-name]")) {
      const fits = fold(entry.textContent).includes(wanted);
      entry.hidden = !fits;
      here += fits ? 1 : 0;
    }
    for (const heading of chapter.querySelectorAll(".shelf-category")) {
      heading.hidden = !heading.nextElementSibling.querySelector("[data-name]:not([hidden])");
    }
    chapter.hidden = wanted !== "" && here === 0;
    chapter.open = wanted !== "" && here > 0;
    count += here;
  }
  for (const shelf of document.querySelectorAll(".shelf")) {
    shelf.hidden = wanted !== "" && !shelf.querySelector(".chapter:not([hidden])");
  }
  found.textContent = !wanted ? "" : count ? found.dataset.some.replace("{n}", count) : found.dataset.none;
  found.classList.toggle("visually-hidden", !wanted || count > 0);
}

if (finder) {
  finder.hidden = false;
  finder.addEventListener("input", ({ target }) => look(fold(target.value.trim())));
}
