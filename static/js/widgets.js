// Widgets of service requests: what is wrong is shown beside the control and nothing of what was
// typed is lost; what cannot be shown is told, so that the assistant asks in words.
import { say } from "./announcer.js";
import { refreshBubble } from "./bubbles.js";
import { showRunning } from "./composer.js";
import { followQuestion } from "./scroll.js";
import "./type_selector.js";

const WRONG = 422;
const ANSWERED = 409;
// What is told once is not told again, however often it is drawn.
const told = new Set();
const ready = new WeakSet();
// What was tried last, to be tried again.
const tried = new WeakMap();

function widgetOf(element) {
  return element.closest?.(".widget");
}

function alertOf(widget) {
  return widget.querySelector(".widget-alert");
}

/** The field that an answer was refused for; where that is not said, the first one. */
function fieldOf(widget) {
  const named = alertOf(widget)?.querySelector("[data-wrong]")?.dataset.wrong;
  const field = named && widget.querySelector(`[data-control][data-field="${CSS.escape(named)}"]`);
  return field || widget.querySelector("[data-control]");
}

/** What the focus goes to when an answer is wrong: the control, of several the first. */
function controlOf(widget) {
  const name = fieldOf(widget)?.dataset.control;
  const control = name && widget.querySelector(`#${CSS.escape(name)}`);
  if (control?.localName !== "fieldset") return control;
  return control.querySelector("input:not([type=hidden], [type=file], [type=checkbox])") ?? control;
}

function mark(field, isWrong) {
  field?.classList.toggle("field-wrong", isWrong);
  for (const one of field?.querySelectorAll("[aria-describedby]") ?? []) {
    if (isWrong) one.setAttribute("aria-invalid", "true");
    else one.removeAttribute("aria-invalid");
  }
}

function unmark(widget) {
  for (const field of widget.querySelectorAll("[data-control]")) mark(field, false);
}

/** Say that it did not arrive, with a button that sends it again under the same key. */
function showLost(widget, form) {
  tried.set(widget, form);
  const lost = widget.querySelector("template[data-lost]").content;
  alertOf(widget).replaceChildren(document.importNode(lost, true));
  alertOf(widget).scrollIntoView({ block: "nearest" });
}

/** The widget cannot be used here: say so, and let the assistant ask in words. */
function giveUp(widget, error) {
  const [form, later] = widget.querySelectorAll("form");
  form.querySelector(".field").replaceChildren(widget.dataset.broken);
  form.querySelector(".ticket-actions").remove();
  const step = { type: "widget_error", field_id: widget.dataset.widget, error: String(error).slice(0, 200) };
  later.elements.internal_content.value = JSON.stringify(step);
  tell(widget, later);
}

function tell(widget, form) {
  if (told.has(widget.id)) return;
  told.add(widget.id);
  form.requestSubmit();
}

/** Files are sent one by one by a script of their own; what was chosen before it came, too. */
async function takeFiles(widget) {
  await import("./uploads.js");
  for (const chooser of widget.querySelectorAll("input[type=file]")) {
    if (chooser.files.length) chooser.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

async function setUp(widget) {
  if (ready.has(widget)) return;
  ready.add(widget);
  if ("unknown" in widget.dataset) return tell(widget, widget.querySelector("form"));
  try {
    if (!controlOf(widget)) throw new Error("the control is missing");
    if (widget.querySelector("[data-uploads]")) await takeFiles(widget);
    widget.dataset.ready = "";
  } catch (error) {
    giveUp(widget, error);
  }
}

function setUpAll() {
  for (const widget of document.querySelectorAll("[data-widget]")) setUp(widget);
}

function on(name, act) {
  document.addEventListener(name, ({ detail: { ctx } }) => {
    const form = ctx?.sourceElement;
    if (form?.matches?.("[data-posts]")) act(form, ctx);
  });
}

on("htmx:before:request", (form) => {
  const widget = widgetOf(form);
  form.setAttribute("aria-busy", "true");
  alertOf(widget).replaceChildren();
  unmark(widget);
});
on("htmx:error", (form) => {
  const widget = widgetOf(form);
  if (widget) showLost(widget, form);
});
on("htmx:finally:request", (form, { response }) => {
  form.removeAttribute("aria-busy");
  const widget = widgetOf(form);
  if (!response || !widget) return;
  if (response.status < 300) close(widget);
  else refuse(widget, response.status);
});

/** It was answered: what it has become is drawn, and the focus stays with it. */
async function close(widget) {
  const part = widget.closest(".part");
  showRunning(true);
  followQuestion();
  await refreshBubble(widget.closest(".message").dataset.message);
  say(part.querySelector(".decided")?.textContent ?? "");
  if (document.activeElement === document.body) part.focus({ preventScroll: true });
}

async function refuse(widget, status) {
  if (status === ANSWERED) {
    say(alertOf(widget).textContent);
    await refreshBubble(widget.closest(".message").dataset.message);
  } else if (status === WRONG) {
    const field = fieldOf(widget);
    const fold = field?.closest("details");
    if (fold) fold.open = true;
    mark(field, true);
    controlOf(widget)?.focus();
  }
}

// What is being filled in is not taken away by a drawing of the same.
document.addEventListener("htmx:before:swap", ({ detail: { ctx } }) => {
  for (const widget of document.querySelectorAll(".widget")) {
    widget.toggleAttribute("hx-morph-skip", Boolean(ctx.text?.includes(`id="${widget.id}"`)));
  }
});
document.addEventListener("input", ({ target }) => {
  const field = target.closest?.("[data-control]");
  if (field) mark(field, false);
});
document.addEventListener("click", ({ target }) => {
  const again = target.closest?.("[data-again]");
  if (again) tried.get(widgetOf(again))?.requestSubmit();
});
document.addEventListener("htmx:after:swap", setUpAll);
setUpAll();
