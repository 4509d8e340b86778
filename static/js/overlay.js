// One thing above the page at a time: the rest is inert, Escape, the shade and the way back of the
// browser close it, and the focus goes back to where it came from.
let current = null;
// An entry of the history stands for what is above the page, and is being left.
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
  if (!hasEntry) return;
  hasEntry = false;
  isLeaving = Boolean(history.state?.isAbove);
  if (isLeaving) history.back();
}

function giveBack() {
  if (!current) return;
  for (const other of current.others) other.inert = false;
  current.shade.remove();
  current = null;
}

// htmx would load the page anew, whatever somebody goes back from. It listens to one of these two.
window.navigation?.addEventListener(
  "navigate",
  (event) => {
    if (event.navigationType === "traverse" && (hasEntry || isLeaving)) event.stopImmediatePropagation();
  },
  { capture: true },
);
window.addEventListener(
  "popstate",
  (event) => {
    if (!hasEntry && !isLeaving) return;
    event.stopImmediatePropagation();
    isLeaving = false;
    if (!hasEntry) return;
    hasEntry = false;
    current?.close();
  },
  { capture: true },
);
