// The bell asks again every now and then, while somebody looks at the page, and when they come back.
const EVERY = 20_000;
let asked = Date.now();

function look() {
  const bell = document.getElementById("bell");
  if (!bell || document.hidden || !navigator.onLine || !window.htmx) return;
  asked = Date.now();
  window.htmx.trigger(bell, "look");
}

// The count is never worth an error, and what is asked by itself takes nobody to the sign-in page,
// away from what they are typing.
document.addEventListener("htmx:before:response", (event) => {
  const { ctx } = event.detail;
  if (ctx.sourceElement?.id === "bell" && ctx.response.status !== 200) event.preventDefault();
});

setInterval(look, EVERY);
document.addEventListener("visibilitychange", () => {
  if (Date.now() - asked >= EVERY) look();
});
window.addEventListener("load", () => {
  if (document.getElementById("bell")?.hasAttribute("data-unknown")) look();
});
