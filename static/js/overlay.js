// One thing above the page at a time: the rest is inert; Escape, the shade and the browser's way
// back close it, and the focus goes back to where it came from.
let current = null;
// An entry of the history stands for it.
let hasEntry = false;
let isLeaving = false;

/** Show `element` above the page; `close` is called when the person leaves it. */
export function raise(element, close) {
  giveBack();
  const shade = document.createElement("div");
  shade.className = "backdrop";
  shade.addEventListener("click", close);
  const others = [...document.body.children].filter(
    (child) => child !== element && !child.matches("script, template, [aria-live], [role=status]"),
  );
  for (const other of others) other.inert = true;
  element.before(shade);
  current = { shade, others, close };
  if (!hasEntry) history.pushState({ isAbove: true }, "");
  hasEntry = true;
}

/** Give the page back. */
export function lower() {
  giveBack();
  isLeaving = hasEntry && Boolean(history.state?.isAbove);
  hasEntry = false;
  if (isLeaving) history.back();
}

function giveBack() {
  if (!current) return;
  for (const other of current.others) other.inert = false;
  current.shade.remove();
  current = null;
}

// htmx listens to one of these two, and would load the page anew.
function goBack(event) {
  const isOurs = event.type === "popstate" || event.navigationType === "traverse";
  if (!isOurs || !(hasEntry || isLeaving)) return;
  event.stopImmediatePropagation();
  if (event.type !== "popstate") return;
  isLeaving = false;
  if (!hasEntry) return;
  hasEntry = false;
  current?.close();
}
window.navigation?.addEventListener("navigate", goBack, true);
window.addEventListener("popstate", goBack, true);
