// Keeps the stream open. htmx reconnects a stream that broke; a first connect that failed it
// never tries again, an answer of 401 does not stop it, and a connection that died in silence
// it cannot know of: those three are cared for here. So is a refusal because too many pages are
// open: it is said at once, and asked again only now and then. (htmx's delays: _stream.html.)
import { refreshBubble, unfinished } from "./bubbles.js";
import { icon, text } from "./texts.js";

const line = document.getElementById("connection");
const QUIET = 3000;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;
const SILENCE = 25_000;
const CROWDED_DELAY = 30_000;
const GONE = new Set([401, 403, 404]);
const CROWDED = 429;

let attempt = 0;
let crowded = false;
let connection = null;
let ended = false;
let retry = 0;
let notice = 0;
let lastHeard = Date.now();

function stream() {
  return document.getElementById("stream");
}

function troubled() {
  if (ended || notice || crowded) return;
  notice = setTimeout(() => {
    line.replaceChildren(icon("cloud-off"), text("connecting"));
    line.hidden = false;
  }, QUIET);
}

/** Too many pages are open: say so now, instead of that it connects again. */
function crowd() {
  if (ended) return;
  clearTimeout(notice);
  crowded = true;
  line.replaceChildren(icon("cloud-off"), text("crowded"));
  line.hidden = false;
}

function heal() {
  clearTimeout(notice);
  notice = 0;
  crowded = false;
  attempt = 0;
  lastHeard = Date.now();
  if (!ended) line.hidden = true;
}

/** The stream is over for good: say so, with the way back. What was typed stays. */
export function endConnection() {
  ended = true;
  clearTimeout(retry);
  clearTimeout(notice);
  const way = document.createElement("a");
  way.href = `${text("signInUrl")}?next=${encodeURIComponent(location.pathname)}`;
  way.textContent = text("signIn");
  line.replaceChildren(text("ended"), " ", way);
  line.hidden = false;
}

function connect() {
  const element = stream();
  const address = element?.getAttribute("hx-sse:connect");
  if (ended || !address || connection) return;
  window.htmx.ajax("GET", address, { source: element, timeout: LONGEST_DELAY });
}

function tryLater() {
  troubled();
  clearTimeout(retry);
  const usual = Math.min(FIRST_DELAY * 2 ** attempt, LONGEST_DELAY);
  const delay = (crowded ? CROWDED_DELAY : usual) * (0.7 + 0.6 * Math.random());
  attempt += 1;
  retry = setTimeout(connect, delay);
}

/** Try now, whatever the delay: the device is back, or somebody looks at the page again. */
function hurry() {
  if (connection?.delayCanceller) connection.delayCanceller();
  else if (!connection && stream()?.hasAttribute("hx-sse:connect")) {
    clearTimeout(retry);
    connect();
  }
}

function on(name, act) {
  document.addEventListener(name, (event) => {
    if (event.target.id === "stream") act(event.detail, event);
  });
}

on("htmx:before:response", ({ ctx }, event) => {
  // Without this the answer to an expired sign-in would take the page, and the draft, away.
  if (GONE.has(ctx.response.status)) {
    event.preventDefault();
    endConnection();
  } else if (ctx.response.status === CROWDED) {
    event.preventDefault();
    crowd();
  }
});
on("htmx:finally:request", ({ ctx }) => {
  const opened = ctx.response?.status === 200 && connection;
  if (!opened && !ended) tryLater();
});
on("htmx:sse:before:connection", (detail, event) => {
  connection = detail.connection;
  if (ended) event.preventDefault();
  else if (connection.attempt > 0) troubled();
});
on("htmx:sse:after:connection", heal);
on("htmx:sse:before:message", () => (lastHeard = Date.now()));
on("htmx:sse:error", ({ status }) => {
  if (GONE.has(status)) endConnection();
  else if (status === CROWDED) crowd();
  else troubled();
});
on("htmx:sse:close", ({ reason }) => {
  connection = null;
  if (reason === "ended" && !ended) tryLater();
});

window.addEventListener("online", () => {
  connection?.reader?.cancel();
  hurry();
});
document.addEventListener("visibilitychange", () => document.hidden || hurry());

// An answer is being written and nothing comes: the line may be dead without having been cut.
setInterval(() => {
  if (document.hidden || !connection?.reader || !unfinished().length) return;
  if (Date.now() - lastHeard > SILENCE) {
    lastHeard = Date.now();
    connection.reader.cancel();
    // An end that could not be announced is found out by asking.
    for (const bubble of unfinished()) refreshBubble(bubble.dataset.message);
  }
}, 5000);
