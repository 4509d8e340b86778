// Results that come while one types: told to those who do not see them, reached with the arrows.
const field = document.getElementById("find");

function results() {
  return [...document.querySelectorAll("#results .hit")];
}

function list() {
  return document.querySelector("#results, #menu");
}

/** How much a list that was swapped in has, once the typing rests. */
let known = list();
let telling;
document.addEventListener("htmx:after:swap", () => {
  if (list() === known) return;
  known = list();
  clearTimeout(telling);
  telling = setTimeout(() => {
    if (known?.dataset.told) document.getElementById("announcer").textContent = known.dataset.told;
  }, 400);
});

document.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const stops = field ? [field, ...results()] : [];
  const at = stops.indexOf(document.activeElement);
  if (at < 0 || event.isComposing) return;
  if (event.key === "Escape" && at > 0) field.focus();
  else if (step && stops[at + step]) stops[at + step].focus();
  else return;
  event.preventDefault();
});
