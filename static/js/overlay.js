// One thing above the page at a time: the rest is inert, Escape and the shade close it, and
// the focus goes back to where it came from.
let current = null;

/** Show `element` above the page; `close` is called when the person leaves it. */
export function raise(element, close) {
  lower();
  const shade = document.createElement("div");
  shade.className = "backdrop";
  shade.addEventListener("click", close);
  const others = [...document.body.children].filter(
    (child) => child !== element && !child.matches("script, template, [aria-live], [role=status]"),
  );
  for (const other of others) other.inert = true;
  element.before(shade);
  current = { shade, others };
}

/** Give the page back. */
export function lower() {
  if (!current) return;
  for (const other of current.others) other.inert = false;
  current.shade.remove();
  current = null;
}
