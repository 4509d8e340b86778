// Reads an answer out a sentence at a time, politely; never every token.
const region = document.getElementById("announcer");
const SENTENCE = /^[\s\S]*?(?:[.!?…][)"'”»\]]*(?=\s)|\n)/;
const MARKS = /\*\*|__|`|\||^\s*(?:#{1,6}|[-*+]) |\s*\[\d{1,3}\]/gm;
const KEPT = 8;

let unsaid = "";

/** Say something whole. */
export function say(words) {
  const spoken = words.replace(MARKS, "").trim();
  if (!spoken) return;
  const line = document.createElement("span");
  line.textContent = `${spoken} `;
  region.append(line);
  while (region.childNodes.length > KEPT) region.firstChild.remove();
}

/** More of an answer; it is said when its sentence is complete. */
export function hear(words) {
  unsaid += words;
  for (let found = SENTENCE.exec(unsaid); found; found = SENTENCE.exec(unsaid)) {
    unsaid = unsaid.slice(found[0].length);
    say(found[0]);
  }
}

/** The answer is over: say what is left of it. */
export function finishHearing() {
  say(unsaid);
  unsaid = "";
}
