// The slash goes to the composer; arrows walk the history.
const STEP = { ArrowDown: 1, ArrowUp: -1 };

function walk(event) {
  const link = event.target.closest?.("#history a");
  if (!link || !(event.key in STEP)) return;
  const links = [...document.querySelectorAll("#history a")];
  const next = links[links.indexOf(link) + STEP[event.key]];
  event.preventDefault();
  next?.focus();
}

document.addEventListener("keydown", (event) => {
  walk(event);
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.getElementById("message").focus();
  }
});
