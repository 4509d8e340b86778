// The drawer of phones. On wide screens the same element is the left rail, always open.
import { lower, raise } from "./overlay.js";

const rail = document.getElementById("rail");
const handle = document.getElementById("drawer-handle");
const wide = window.matchMedia("(min-width: 960px)");

function open() {
  rail.classList.add("open");
  handle.setAttribute("aria-expanded", "true");
  raise(rail, close);
  document.getElementById("drawer-close").focus();
}

function close() {
  if (!rail.classList.contains("open")) return;
  rail.classList.remove("open");
  handle.setAttribute("aria-expanded", "false");
  lower();
  if (!wide.matches) handle.focus();
}

/** A link that scripts turn into a button answers to the space bar as well. */
function asButton(link, act) {
  link.setAttribute("role", "button");
  link.addEventListener("click", (event) => {
    event.preventDefault();
    act();
  });
  link.addEventListener("keydown", (event) => {
    if (event.key === " ") {
      event.preventDefault();
      act();
    }
  });
}

/** The way back from another page leads to the page below the drawer. */
function goOn(event) {
  const link = event.target.closest("a[href]:not([download])");
  const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.button);
  if (!link || !isPlain || event.defaultPrevented || !rail.classList.contains("open")) return;
  event.preventDefault();
  location.replace(link.href);
}

if (rail && handle) {
  handle.setAttribute("aria-expanded", "false");
  handle.setAttribute("aria-controls", "rail");
  asButton(handle, open);
  asButton(document.getElementById("drawer-close"), close);
  rail.addEventListener("keydown", (event) => event.key === "Escape" && close());
  rail.addEventListener("click", goOn);
  wide.addEventListener("change", close);
}
