// The sign beside a paragraph copies the paragraph's address; following it goes there too.
import { put } from "./copy.js";
import { text } from "./texts.js";

document.addEventListener("click", async ({ target }) => {
  const link = target.closest?.("a.anchor");
  if (!link) return;
  await put(link.href);
  link.focus();
  document.getElementById("announcer").textContent = text("copied");
});
