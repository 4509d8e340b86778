// What the scripts say, in the page's language: templates/_texts.html carries the words.
const words = document.getElementById("texts").dataset;

/** The text called `name`, its {n} replaced by `n`. */
export function text(name, n = "") {
  return words[name].replace("{n}", n);
}

/** A copy of an icon of the page's sprite. */
export function icon(name) {
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  drawing.setAttribute("class", "icon");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  drawing.append(use);
  return drawing;
}
