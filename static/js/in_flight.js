// What this page is just sending.
const sending = new Set();
let settled = Promise.resolve();
let settle = () => {};
let begun = 0;

/** Resolves when nothing is on its way. */
export async function idle() {
  while (sending.size) await settled;
}

/** How often this page has sent something: what was asked for before may not show it. */
export function timesSent() {
  return begun;
}

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  if (ctx.request.method === "GET") return;
  if (!sending.size) settled = new Promise((resolve) => (settle = resolve));
  sending.add(ctx);
  begun += 1;
});
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  if (sending.delete(ctx) && !sending.size) settle();
});
