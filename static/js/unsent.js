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

// Under which name the form that was sent last is kept: the page that follows tells what became of it.
const SENT = "comanda:sent";

function ofThisTab(act) {
  try {
    return act(window.sessionStorage);
  } catch {
    // Storage may be full or forbidden: then the text is offered once more.
    return null;
  }
}

export function rememberSent(name) {
  ofThisTab((kept) => kept.setItem(SENT, name));
}

/** What was sent is in this page now, saved or shown again, and no longer where it was kept. */
export function forgetSent(here) {
  const name = ofThisTab((kept) => kept.getItem(SENT));
  if (name && name !== here) keepDraft(name, "");
  ofThisTab((kept) => kept.removeItem(SENT));
}

/** The same on a page that tells that it was done. */
export function forgetArrived() {
  if (document.querySelector("[data-done]")) forgetSent();
}

/** Only the page that follows can tell it, and the one to sign in on tells nothing. */
export function leaveSent() {
  ofThisTab((kept) => kept.removeItem(SENT));
}
