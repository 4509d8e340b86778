// The view follows an answer until its question stands at the top, so that a long one is read
// from its beginning; beyond that only a reader who goes along. Else a pill offers the way.
const scroller = document.getElementById("scroller");
const messages = document.getElementById("messages");
const pill = document.getElementById("to-newest");
const NEAR = 48;
const GAP = 12;

// "question": the newest question stays in sight; "end": the newest words do; "free": the reader
// is somewhere of their own. A first page is read from its top; a conversation from its end.
// An address that names a message, such as one that was searched for, begins there.
const named = location.hash.startsWith("#m-") && document.getElementById(location.hash.slice(1));
let staying = named || document.getElementById("welcome") ? "free" : "end";
let ours = 0;
// Where the reader may be going, from what they did last: the direction of a wheel, else either.
let wish = "either";
let lastHeight = 0;
let lastWidth = 0;

function isWriting() {
  return Boolean(messages.querySelector("[data-status=streaming], [data-status=queued]"));
}

function end() {
  return Math.max(0, scroller.scrollHeight - scroller.clientHeight);
}

/** Where the newest question stands at the top (a long one with half of the view left below). */
function questionTop() {
  const asked = [...messages.querySelectorAll("[data-role=user]")].at(-1);
  if (!asked) return end();
  const box = asked.getBoundingClientRect();
  const below = box.top - scroller.getBoundingClientRect().top - GAP;
  const long = Math.max(0, box.height - scroller.clientHeight / 2);
  return Math.min(end(), Math.max(0, scroller.scrollTop + below + long));
}

function moveTo(top) {
  scroller.scrollTop = top;
  ours = scroller.scrollTop;
}

/** Stay there, or let the reader go; only then does the browser keep in place what they read. */
function beAt(where) {
  staying = where;
  scroller.style.overflowAnchor = where === "free" ? "" : "none";
}

function stay(where) {
  beAt(where);
  pill.hidden = true;
  moveTo(where === "end" ? end() : questionTop());
}

/** Show the newest question, and its answer from the beginning. */
export function followQuestion() {
  wish = null;
  stay("question");
}

/** Bring what somebody has opened into view whole, if it fits, and stay there. */
export function stayWith(element) {
  beAt("free");
  if (element.offsetHeight < scroller.clientHeight) element.scrollIntoView({ block: "nearest" });
}

/** Keep an element where it stood before what is around it changed. */
export function keepInPlace(element, top) {
  beAt("free");
  moveTo(scroller.scrollTop + element.getBoundingClientRect().top - top);
}

const passive = { passive: true };
for (const input of ["pointerdown", "touchmove", "keydown", "focusin"]) {
  const watched = input === "focusin" ? messages : document;
  watched.addEventListener(input, () => (wish = "either"), passive);
}
function onWheel({ deltaY }) {
  wish = Math.sign(deltaY) || wish;
  // At once: before the wheel has gone far, the next words would bring the view back.
  if (deltaY < 0 && scroller.scrollTop > 0) beAt("free");
}
function onScroll() {
  const moved = scroller.scrollTop - ours;
  const near = end() - scroller.scrollTop < NEAR;
  ours = scroller.scrollTop;
  // Our own moves are told late, when content may have grown since: they are nobody's wish.
  if (Math.abs(moved) <= 1) return;
  // A text that got shorter moves the view too, and so does the rest of a wheel's smooth way.
  if (isWriting() && wish !== "either" && wish !== Math.sign(moved)) {
    if (staying !== "free") stay(staying);
    return;
  }
  if (near && moved > 0) beAt("end");
  else if (!near) beAt("free");
  if (near) pill.hidden = true;
}
scroller.addEventListener("wheel", onWheel, passive);
scroller.addEventListener("scroll", onScroll, passive);

const observer = new ResizeObserver(() => {
  // A narrower column is taller too, and so is one with its sources opened: nothing new.
  const grew = isWriting() && messages.offsetHeight > lastHeight && messages.offsetWidth === lastWidth;
  lastHeight = messages.offsetHeight;
  lastWidth = messages.offsetWidth;
  if (staying !== "free") stay(staying);
  else if (grew) pill.hidden = false;
});

// What comes in above must not push away what is being read.
let fromEnd = 0;
document.addEventListener("htmx:before:swap", ({ detail }) => {
  if (detail.ctx.sourceElement.closest?.("#earlier")) {
    fromEnd = scroller.scrollHeight - scroller.scrollTop;
  }
});
document.addEventListener("htmx:after:swap", () => {
  if (fromEnd) moveTo(scroller.scrollHeight - fromEnd);
  fromEnd = 0;
});

lastHeight = messages.offsetHeight;
lastWidth = messages.offsetWidth;
observer.observe(messages);
observer.observe(scroller);
pill.addEventListener("click", () => {
  stay("end");
  document.getElementById("message").focus();
});
if (staying === "end") stay("end");
if (named) named.scrollIntoView({ block: "start" });
