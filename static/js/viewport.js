// Keeps the composer above the keyboard where the browser lays the keyboard over the page.
const view = window.visualViewport;
const KEYBOARD = 120;

function fit() {
  const covered = window.innerHeight - view.height > KEYBOARD && view.scale === 1;
  const root = document.documentElement.style;
  if (covered) {
    root.setProperty("--height", `${view.height}px`);
    window.scrollTo(0, 0);
  } else root.removeProperty("--height");
}

view?.addEventListener("resize", fit);
view?.addEventListener("scroll", fit);
