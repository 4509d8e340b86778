// The conversation's modules, in the order in which they look at the page.
import "./scroll.js";
import "./composer.js";
import "./message_edit.js";
import "./branching.js";
import "./proposals.js";
import "./stream_events.js";
import "./stream_connection.js";
import "./panel.js";
import "./feedback.js";
import "./keyboard.js";
import "./viewport.js";
