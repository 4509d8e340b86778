// The list of types of request: found by typing, walked with the arrow keys.
const REST = 400;
const timers = new WeakMap();

/** Text as it is compared: without accents and capitals. */
function fold(text) {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

/** What a type is found by: its own words, and the names of what it is under. */
function wordsOf(type) {
  const names = [type.textContent];
  for (let above = type.closest("[data-branch]"); above; above = above.parentElement.closest("[data-branch]")) {
    names.push(above.querySelector("summary").textContent);
  }
  return fold(names.join(" "));
}

function showBranch(branch, isNarrowed) {
  branch.hidden = !branch.querySelector("[data-type]:not([hidden])");
  if (isNarrowed) {
    branch.dataset.wasOpen ??= branch.open;
    branch.open = true;
  } else if (branch.dataset.wasOpen) {
    branch.open = branch.dataset.wasOpen === "true";
    delete branch.dataset.wasOpen;
  }
}

function countInWords({ none, one, some }, count) {
  return count === 0 ? none : count === 1 ? one : some.replace("{n}", count);
}

function narrow(selector, typed) {
  const wanted = fold(typed).split(/\s+/).filter(Boolean);
  const types = [...selector.querySelectorAll("[data-types] [data-type]")];
  for (const type of types) {
    const words = wordsOf(type);
    type.hidden = !wanted.every((word) => words.includes(word));
  }
  for (const branch of selector.querySelectorAll("[data-branch]")) showBranch(branch, wanted.length > 0);
  const likely = selector.querySelector("[data-likely]");
  if (likely) likely.hidden = wanted.length > 0;
  const count = types.filter((type) => !type.hidden).length;
  // Said when the typing rests, not with every letter.
  clearTimeout(timers.get(selector));
  const found = selector.querySelector("[data-found]");
  const tell = () => (found.textContent = wanted.length ? countInWords(selector.dataset, count) : "");
  timers.set(selector, setTimeout(tell, wanted.length ? REST : 0));
}

function stops(selector) {
  const all = selector.querySelectorAll("[data-find], [data-type], summary");
  return [...all].filter((one) => one.checkVisibility());
}

function step(selector, from, by) {
  const all = stops(selector);
  all[all.indexOf(from) + by]?.focus();
}

/** Enter in the field: the one type that is left is chosen, of several the first is gone to. */
function choose(selector) {
  const left = [...selector.querySelectorAll("[data-types] [data-type]")].filter((one) => one.checkVisibility());
  if (left.length === 1) left[0].click();
  else left[0]?.focus();
}

document.addEventListener("input", ({ target }) => {
  if (target.matches?.("[data-find]")) narrow(target.closest("[data-selector]"), target.value);
});
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  const selector = target.closest?.("[data-selector]");
  if (!selector || event.isComposing) return;
  const by = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (by && target.matches("[data-find], [data-type], summary")) {
    event.preventDefault();
    step(selector, target, by);
  } else if (key === "Enter" && target.matches("[data-find]")) {
    event.preventDefault();
    choose(selector);
  }
});
