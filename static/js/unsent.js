// What was typed and not yet sent, kept on this device per person, restaurant and thread.
const PREFIX = "comanda:draft:";

function store(act) {
  try {
    return act(window.localStorage);
  } catch {
    // Storage may be full or forbidden: then a draft lives as long as its page.
    return null;
  }
}

export function readDraft(name) {
  return store((kept) => kept.getItem(PREFIX + name)) ?? "";
}

export function keepDraft(name, words) {
  store((kept) => (words ? kept.setItem(PREFIX + name, words) : kept.removeItem(PREFIX + name)));
}

/** Kitchen phones are shared: signing out leaves no words behind. */
export function forgetDrafts() {
  store((kept) => {
    for (const name of Object.keys(kept)) if (name.startsWith(PREFIX)) kept.removeItem(name);
  });
}
