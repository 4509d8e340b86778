// The cited passage, beside the talk: a sheet from below on phones, a column on wide screens.
import { lower, raise } from "./overlay.js";
import { text } from "./texts.js";

const panel = document.getElementById("panel");
const body = document.getElementById("panel-body");
const wide = window.matchMedia("(min-width: 1100px)");

let opener = null;

function arrange() {
  const sheet = !wide.matches;
  if (sheet) raise(panel, close);
  else lower();
  panel.setAttribute("role", sheet ? "dialog" : "complementary");
  panel.toggleAttribute("aria-modal", sheet);
  if (sheet) panel.setAttribute("aria-modal", "true");
}

function open(link) {
  opener?.removeAttribute("aria-expanded");
  opener = link;
  panel.hidden = false;
  arrange();
  link.setAttribute("aria-expanded", "true");
  panel.focus();
}

function close() {
  if (panel.hidden) return;
  panel.hidden = true;
  lower();
  opener?.removeAttribute("aria-expanded");
  if (opener?.isConnected) opener.focus();
  opener = null;
}

export async function show(link) {
  open(link);
  body.replaceChildren();
  body.setAttribute("aria-busy", "true");
  await window.htmx.ajax("GET", link.getAttribute("href"), { source: body, target: body, swap: "innerHTML" });
  body.removeAttribute("aria-busy");
  if (!body.children.length) body.textContent = text("notLoaded");
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented) close();
});
document.getElementById("panel-close").addEventListener("click", close);
wide.addEventListener("change", () => panel.hidden || arrange());
