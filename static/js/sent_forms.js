// What became of a form that was sent: only the page that follows can tell.
import { keepDraft } from "./unsent.js";

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
function leaveSent() {
  ofThisTab((kept) => kept.removeItem(SENT));
}

export function settle() {
  forgetArrived();
  leaveSent();
}
