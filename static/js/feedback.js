// The form under an answer: brought into view whole when it opens, and left with Escape.
import { stayWith } from "./scroll.js";

document.addEventListener("focusin", ({ target, relatedTarget }) => {
  const form = target.closest(".feedback-form");
  if (form && !form.contains(relatedTarget)) stayWith(form);
});
document.addEventListener("keydown", (event) => {
  const form = event.key === "Escape" && event.target.closest(".feedback-form");
  if (!form) return;
  event.preventDefault();
  form.querySelector("[data-closes]").click();
});
