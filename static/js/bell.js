// The bell asks again every now and then, while somebody looks at the page, and when they come back.
// It is never worth an error: what does not come is asked for the next time, and who is signed out
// by now stays on the page that they are typing into.
const EVERY = 20_000;
let asked = Date.now();
let asking = false;
let isOver = false;

async function look() {
  const bell = document.getElementById("bell");
  if (!bell || asking || isOver || document.hidden || !navigator.onLine) return;
  asked = Date.now();
  asking = true;
  try {
    const answer = await fetch(bell.dataset.asks);
    isOver = answer.headers.has("X-Signed-Out");
    if (answer.status === 200) draw(bell, await answer.text());
  } catch {
    // Away for the moment.
  }
  asking = false;
}

function draw(bell, html) {
  const fresh = document.createRange().createContextualFragment(html).firstElementChild;
  const hasFocus = document.activeElement === bell;
  bell.replaceWith(fresh);
  if (hasFocus) fresh.focus();
}

setInterval(look, EVERY);
document.addEventListener("visibilitychange", () => {
  if (Date.now() - asked >= EVERY) look();
});
window.addEventListener("load", () => {
  if (document.getElementById("bell")?.hasAttribute("data-unknown")) look();
});
