// A form that has arrived, or is shown again: nothing of it stays on this device. And the button
// that prints it.
import { keepDraft } from "./unsent.js";

for (const name of document.querySelector("[data-sent]")?.dataset.sent.split(" ") ?? []) {
  keepDraft(name, "");
}
const button = document.querySelector("[data-print]");
if (button) button.hidden = false;
button?.addEventListener("click", () => window.print());
