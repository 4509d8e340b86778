// The conversation's modules, in the order in which they look at the page.
import "./scroll.js";
import "./composer.js";
import "./editing.js";
import "./branching.js";
import "./deciding.js";
import "./stream.js";
import "./connection.js";
import "./panel.js";
import "./feedback.js";
import "./keyboard.js";
import "./viewport.js";
