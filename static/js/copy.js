// Copying an answer: the numbers of its sources stay behind, the words go along.
import { text } from "./texts.js";

const CITATION = /\s*\[\d{1,3}\]/g;

/** The clipboard proper needs a secure address; a restaurant's own network may not have one. */
export async function put(words) {
  if (navigator.clipboard) return navigator.clipboard.writeText(words);
  const carrier = document.createElement("textarea");
  carrier.value = words;
  document.body.append(carrier);
  carrier.select();
  document.execCommand("copy");
  carrier.remove();
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.("[data-copy]");
  if (!button) return;
  await put(button.dataset.copy.replace(CITATION, ""));
  button.focus();
  const drawing = button.querySelector("use");
  drawing.setAttribute("href", "#i-check");
  document.getElementById("announcer").textContent = text("copied");
  setTimeout(() => drawing.setAttribute("href", "#i-copy"), 1500);
});
