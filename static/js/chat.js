// The conversation's modules, in the order in which they look at the page.
import "./scroll.js";
import "./composer.js";
import "./message_edit.js";
import "./branching.js";
import "./proposals.js";
import "./stream_events.js";
import "./stream_connection.js";
import "./feedback.js";
import "./keyboard.js";
import "./viewport.js";

// The panel comes with the first source that is opened; without it, a source is a page.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-cite]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  import("./panel.js").then(({ show }) => show(link), () => location.assign(link.href));
});
