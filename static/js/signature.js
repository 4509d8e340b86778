// Signatures: strokes of a finger, a pen or a mouse, or a typed name, sent as a picture.
import { addUpload } from "./uploads.js";

const INK = "#1f1b16";
const PAPER = "#fff";
const WIDTH = 900;
const HEIGHT = 300;
const STROKE = 5;
const HAND = 'italic 96px "Snell Roundhand", "Segoe Script", "Brush Script MT", "URW Chancery L", cursive';

const pads = new WeakMap();

/** What was drawn or typed in the field of `root`, in units of the picture. */
function padOf(root) {
  if (!pads.has(root)) pads.set(root, { strokes: [], pointer: null });
  return pads.get(root);
}

function canvasOf(root) {
  const canvas = root.querySelector("[data-signature-canvas]");
  if (canvas.width !== WIDTH) [canvas.width, canvas.height] = [WIDTH, HEIGHT];
  return canvas;
}

function place(canvas, event) {
  const box = canvas.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT];
}

function draw(root) {
  const canvas = canvasOf(root);
  const pen = canvas.getContext("2d");
  pen.fillStyle = PAPER;
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  pen.strokeStyle = pen.fillStyle = INK;
  [pen.lineWidth, pen.lineCap, pen.lineJoin] = [STROKE, "round", "round"];
  for (const points of padOf(root).strokes) {
    pen.beginPath();
    pen.moveTo(...points[0]);
    // A tap is a dot.
    for (const point of points.length > 1 ? points.slice(1) : points) pen.lineTo(...point);
    pen.stroke();
  }
  const name = root.querySelector("[data-signature-name]").value.trim();
  if (padOf(root).strokes.length || !name) return;
  [pen.font, pen.textAlign, pen.textBaseline] = [HAND, "center", "middle"];
  pen.fillText(name, WIDTH / 2, HEIGHT / 2, WIDTH - 60);
}

function isSigned(root) {
  return padOf(root).strokes.length > 0 || Boolean(root.querySelector("[data-signature-name]").value.trim());
}

function changed(root) {
  draw(root);
  root.toggleAttribute("data-unsent", isSigned(root));
  if (!root.dataset.listens) {
    root.dataset.listens = "finish";
    root.addEventListener("finish", () => finish(root));
  }
}

function clear(root) {
  padOf(root).strokes = [];
  root.querySelector("[data-signature-name]").value = "";
  changed(root);
}

function finish(root) {
  if (!isSigned(root)) return;
  draw(root);
  const picture = new Promise((resolve) => canvasOf(root).toBlob(resolve, "image/png"));
  addUpload(root, picture, root.dataset.fileName);
  clear(root);
}

function rootOf(target, part) {
  return target.closest?.(part)?.closest("[data-signature]");
}

document.addEventListener("pointerdown", (event) => {
  const root = rootOf(event.target, "[data-signature-canvas]");
  if (!root || !event.isPrimary || event.button !== 0) return;
  event.preventDefault();
  const pad = padOf(root);
  pad.pointer = event.pointerId;
  pad.strokes.push([place(event.target, event)]);
  event.target.setPointerCapture(event.pointerId);
  changed(root);
});
document.addEventListener("pointermove", (event) => {
  const root = rootOf(event.target, "[data-signature-canvas]");
  const pad = root && padOf(root);
  if (!pad || pad.pointer !== event.pointerId) return;
  const moves = event.getCoalescedEvents?.() ?? [];
  for (const move of moves.length ? moves : [event]) pad.strokes.at(-1).push(place(event.target, move));
  draw(root);
});
for (const end of ["pointerup", "pointercancel"]) {
  document.addEventListener(end, (event) => {
    const root = rootOf(event.target, "[data-signature-canvas]");
    if (root && padOf(root).pointer === event.pointerId) padOf(root).pointer = null;
  });
}
document.addEventListener("input", ({ target }) => {
  const root = rootOf(target, "[data-signature-name]");
  if (!root) return;
  padOf(root).strokes = [];
  changed(root);
});
document.addEventListener("click", ({ target }) => {
  const done = rootOf(target, "[data-signature-done]");
  if (done && isSigned(done)) finish(done);
  else if (done) done.querySelector("[data-signature-name]").focus();
  const cleared = rootOf(target, "[data-signature-clear]");
  if (cleared) clear(cleared);
});
