// The assistant beside a form: its conversation, and the fields that it fills in.
import "./composer.js";
import "./message_edit.js";
import "./branching.js";
import "./stream_events.js";
import "./stream_connection.js";
import "./feedback.js";
import { say } from "./announcer.js";
import { load } from "./bubbles.js";
import { lower, raise } from "./overlay.js";
import { followQuestion } from "./scroll.js";

const sheet = document.getElementById("assistant");
const messages = document.getElementById("messages");
const opener = document.getElementById("assistant-open");
const wide = window.matchMedia("(min-width: 1100px)");
const view = window.visualViewport;
const TRIES = [0, 1000, 3000];
// The parts whose fields this page shows already, and the fetching of those that it does not.
const shown = new Set();
let fetching = Promise.resolve();

// On a narrow page: a sheet that the bar below the form opens.

function isOpen() {
  return sheet.classList.contains("open");
}

function open(focused) {
  sheet.classList.add("open");
  sheet.setAttribute("role", "dialog");
  sheet.setAttribute("aria-modal", "true");
  raise(sheet, close);
  focused.focus({ preventScroll: true });
}

function close() {
  if (!isOpen()) return;
  sheet.classList.remove("open");
  sheet.setAttribute("role", "complementary");
  sheet.removeAttribute("aria-modal");
  lower();
  if (wide.matches) return;
  opener.focus({ preventScroll: true });
  document.querySelector(".field-fresh")?.scrollIntoView({ block: "center" });
}

opener.addEventListener("click", () => open(document.getElementById("message")));
document.getElementById("assistant-close").addEventListener("click", close);
document.addEventListener("keydown", (event) => {
  const isMeant = event.key === "Escape" && !event.defaultPrevented;
  if (isMeant && document.getElementById("editing").hidden) close();
});
wide.addEventListener("change", close);
// Where the browser lays the keyboard over the page, the sheet stands on it.
view?.addEventListener("resize", () => {
  const covered = view.scale === 1 ? Math.max(0, window.innerHeight - view.height) : 0;
  sheet.style.setProperty("--covered", `${covered}px`);
});

// What was filled in comes into the fields of this page, wherever it was said.

/** The fields that parts tell of which this page has not shown yet. */
function news() {
  const names = new Set();
  for (const updates of messages.querySelectorAll(".form-updates")) {
    const { message } = updates.closest(".message").dataset;
    const key = `${message} ${updates.closest(".part").dataset.part}`;
    if (shown.has(key)) continue;
    shown.add(key);
    for (const name of updates.dataset.filled.split(",")) if (name) names.add(name);
  }
  return [...names];
}

function tell(words, names) {
  const labels = names.map((name) => document.getElementById(`field-${name}`)?.dataset.label).filter(Boolean);
  if (labels.length) say(words.replace("{fields}", labels.join(", ")));
}

async function bring(names) {
  const kept = new Set();
  const note = ({ detail }) => detail.forEach((name) => kept.add(name));
  document.addEventListener("fields:kept", note);
  for (const delay of TRIES) {
    await new Promise((resolve) => setTimeout(resolve, delay));
    if (await load(`${sheet.dataset.fields}?names=${names.join(",")}`, sheet, "none")) break;
  }
  document.removeEventListener("fields:kept", note);
  tell(sheet.dataset.filled, names.filter((name) => !kept.has(name)));
  tell(sheet.dataset.kept, names.filter((name) => kept.has(name)));
}

news();
document.addEventListener("htmx:after:swap", ({ detail }) => {
  const names = news();
  const isOld = detail.ctx.sourceElement.closest?.("#earlier");
  if (names.length && !isOld) fetching = fetching.then(() => bring(names));
});
if ("opens" in sheet.dataset) {
  if (!wide.matches) open(sheet);
  followQuestion();
}
