// What every page needs. The chat adds chat.js, the library library_finder.js.
import "./bell.js";
import "./copy.js";
import "./drawer.js";
import "./offline.js";
import "./theme.js";
import "./times.js";
import { forgetDrafts } from "./unsent.js";

// Forms carry their token themselves; requests without a form get it here, and reads never do,
// so that it stays out of addresses and logs.
document.addEventListener("htmx:config:request", ({ detail }) => {
  const { request } = detail.ctx;
  if (request.method !== "GET") {
    request.headers["X-CSRFToken"] = document.querySelector("meta[name=csrf-token]").content;
  }
});

// A form that came back with errors puts the first one under the reader's eyes.
document.querySelector("[data-first-error]")?.focus();

// On a slow line people type before the page listens to them: it hears of that now.
document.addEventListener("DOMContentLoaded", () => {
  for (const field of document.querySelectorAll("[type=search], [hx-trigger^='input changed']")) {
    if (field.value === field.defaultValue) continue;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
});

document.addEventListener("submit", ({ target }) => {
  if (target.matches("[data-signs-out]")) forgetDrafts();
});

// A form that has arrived leaves nothing on this device.
let sent = false;
try {
  sent = "comanda:sent" in sessionStorage;
} catch {
  // Storage may be forbidden.
}
if (sent) (await import("./sent_forms.js")).settle();
