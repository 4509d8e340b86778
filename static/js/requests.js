// Requests: what is due is counted down, a thing is sent once, and what was chosen is chosen.
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** The same as `span` of the server: "3 d 4 h", "5 h 10 min", "12 min". */
function span(seconds) {
  const [unit, size, part, partSize] = seconds >= 2 * DAY ? ["d", DAY, "h", HOUR] : ["h", HOUR, "min", MINUTE];
  const whole = Math.floor(seconds / size);
  const rest = Math.floor((seconds % size) / partSize);
  return [whole && `${whole} ${unit}`, rest && `${rest} ${part}`].filter(Boolean).join(" ") || "1 min";
}

function count(element) {
  const left = Math.round((Date.parse(element.dataset.due) - Date.now()) / 1000);
  const words = (left < 0 ? element.dataset.over : element.dataset.left).replace("{n}", span(Math.abs(left)));
  const told = element.querySelector("[data-told]");
  // Only what is other is written: nothing moves, and nothing is read out again.
  if (told.textContent !== words) told.textContent = words;
  if (left >= 0 || element.classList.contains("due-overdue")) return;
  element.classList.remove("due-due", "due-soon");
  element.classList.add("due-overdue");
  element.querySelector("use").setAttribute("href", "#i-alert");
}

function countAll() {
  for (const element of document.querySelectorAll("[data-due]")) count(element);
}

countAll();
setInterval(countAll, 15_000);
document.addEventListener("htmx:after:swap", countAll);

// The key makes two of the same one; this keeps the second from being sent at all.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-once]")) return;
  if (event.target.hasAttribute("aria-busy")) event.preventDefault();
  event.target.setAttribute("aria-busy", "true");
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-once]")) form.removeAttribute("aria-busy");
});
