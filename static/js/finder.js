// Results that come while one types: told to those who do not see them, reached with the arrows.
const field = document.getElementById("find");

function results() {
  return [...document.querySelectorAll("#results .hit")];
}

/** What a part that was swapped in has to say for itself, once the typing rests. */
let telling;
document.addEventListener("htmx:after:swap", () => {
  clearTimeout(telling);
  telling = setTimeout(() => {
    const told = document.querySelector("#results, #menu")?.dataset.told;
    if (told) document.getElementById("announcer").textContent = told;
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
