// The thread's events, drawn. Each carries an id; a bubble's cursor says what it already shows.
import { finishHearing, hear, say } from "./announcer.js";
import {
  findBubble,
  load,
  refreshBubble,
  refreshOffers,
  reloadMessages,
  unfinished,
  withBubble,
} from "./bubbles.js";
import { arrived, showRunning } from "./composer.js";
import { endConnection } from "./stream_connection.js";
import { sayCard } from "./proposals.js";
import { text } from "./texts.js";

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const raw = new WeakMap();
// What was told last, for bubbles that come from the server: they show what is stored, and an
// answer that is being written is stored once a second.
const told = [];
const TOLD = 300;
// The cards that were read out, by their message and number.
const said = new Set();

/** The unfinished block as plain words: its Markdown is drawn by the server when it is whole. */
function plain(words) {
  return words
    .replace(/^\s+/, "")
    .replace(/\*\*|__|`/g, "")
    .replace(/^#{1,6} /gm, "")
    .replace(/^(\s*)[-*+] /gm, "$1• ")
    .replace(/\s?\[(\d{1,3})\]/g, (_, n) => [...n].map((digit) => RAISED[digit]).join(""));
}

function showTail(bubble, words) {
  const tail = bubble.querySelector(".tail");
  raw.set(tail, words);
  tail.textContent = plain(words);
}

function tailOf(bubble) {
  const tail = bubble.querySelector(".tail");
  return raw.get(tail) ?? tail.textContent;
}

/** True when the event tells something that the bubble does not show yet. */
function isNews(bubble, id) {
  const [epoch, number] = (id ?? "").split("-");
  const [seenEpoch, seenNumber] = bubble.dataset.cursor.split("-");
  if (epoch === seenEpoch && Number(number) <= Number(seenNumber)) return false;
  bubble.dataset.cursor = id ?? "";
  return bubble.dataset.status === "streaming" || bubble.dataset.status === "queued";
}

function begin(bubble) {
  bubble.dataset.status = "streaming";
}

/** Draw the end of a bubble that has just come from the server. */
function redraw(bubble) {
  const tail = bubble?.querySelector(".tail");
  if (!tail) return;
  raw.delete(tail);
  showTail(bubble, tailOf(bubble));
}

/** Draw what was told of these bubbles since the server wrote them. */
function catchUp(bubbles) {
  for (const bubble of bubbles) {
    redraw(bubble);
    for (const { name, data, id } of told) {
      if (data.message_id === bubble.dataset.message && isNews(bubble, id)) grow[name](bubble, data);
    }
  }
}

/** Go on with the answers of messages that have just come from the server. */
export function resume() {
  catchUp(unfinished());
  showRunning(unfinished().length > 0);
}

async function refresh(id) {
  await refreshBubble(id);
  const bubble = findBubble(id);
  if (bubble) catchUp([bubble]);
  showRunning(unfinished().length > 0);
}

function showStep(bubble, { id, label, state }) {
  const list = bubble.querySelector(".activity");
  if (!list || state !== "started") return;
  const known = [...list.children].find((line) => line.dataset.step === id);
  const line = known ?? list.lastElementChild.cloneNode(true);
  line.dataset.step = id;
  line.querySelector(".waiting")?.remove();
  line.querySelector(".step").textContent = label;
  list.append(line);
  say(label);
}

function sayOnce(part) {
  const name = part.closest(".message").id + part.dataset.part;
  // An empty one is on its way, and is said when it comes.
  if (said.has(name) || !part.firstElementChild) return;
  said.add(name);
  sayCard(part);
}

async function showPart(bubble, index) {
  const parts = bubble.querySelector(".parts");
  if (parts.querySelector(`[data-part="${index}"]`)) return;
  const place = document.createElement("div");
  place.className = "part";
  place.dataset.part = index;
  place.tabIndex = -1;
  parts.append(place);
  const isLoaded = await load(`${bubble.dataset.url}/parts/${index}`, place, "innerHTML");
  // Where the whole bubble has come meanwhile, the card came with it, and is said at the end.
  if (!place.isConnected) return;
  if (isLoaded) sayOnce(place);
  else place.remove();
}

// What makes an answer grow, by the name of its event.
const grow = {
  token(bubble, { text: words }) {
    begin(bubble);
    showTail(bubble, tailOf(bubble) + words);
  },
  block(bubble, { html, tail }) {
    bubble.querySelector(".blocks").insertAdjacentHTML("beforeend", html);
    showTail(bubble, tail ?? "");
  },
  tool(bubble, step) {
    begin(bubble);
    showStep(bubble, step);
  },
  part(bubble, { index }) {
    showPart(bubble, index);
  },
};

const draw = {
  message({ message_id: id, message_key: key, role }) {
    // Told once, however often the bubble is fetched.
    if (role === "agent" && !findBubble(id)) say(text("colleagueReplied"));
    withBubble(id, () => {
      arrived(key);
      showRunning(unfinished().length > 0);
    });
  },
  done({ message_id: id, status }) {
    withBubble(id, () => finish(id, text(status === "stopped" ? "stopped" : "answered")));
  },
  error({ message_id: id }) {
    withBubble(id, () => finish(id, ""));
  },
  proposals() {
    refreshOffers();
  },
  async reset({ message_id: id, all }) {
    // An answer that starts over, or a log that was lost: what was told of it does not count.
    if (!all) told.length = 0;
    const behind = id ? [id] : [...unfinished()].map((bubble) => bubble.dataset.message);
    if (all || !behind.length) {
      await reloadMessages();
      resume();
    } else await Promise.all(behind.map(refresh));
  },
  closed() {
    endConnection();
  },
};

function finish(id, words) {
  finishHearing();
  say(words);
  // Later, so that the events that came with this one are drawn before the bubble is fetched.
  queueMicrotask(async () => {
    await refresh(id);
    findBubble(id)?.querySelectorAll("[data-part]").forEach(sayOnce);
  });
}

for (const [name, act] of Object.entries(grow)) {
  draw[name] = (data, id) => {
    told.push({ name, data, id });
    if (told.length > TOLD) told.shift();
    withBubble(data.message_id, (bubble) => {
      if (!isNews(bubble, id)) return;
      act(bubble, data);
      if (name === "token") hear(data.text);
    });
  };
}
for (const [name, handler] of Object.entries(draw)) {
  document.addEventListener(name, ({ target, detail }) => {
    // Forms reset and documents load under the same names: only the stream is meant.
    if (target.id !== "stream" || typeof detail?.data !== "string") return;
    handler(JSON.parse(detail.data || "{}"), detail.id);
  });
}

for (const bubble of unfinished()) redraw(bubble);

document.addEventListener("chat:behind", () => reloadMessages());
