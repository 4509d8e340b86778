// What this page is just sending.
const sending = new Set();
let settled = Promise.resolve();
let settle = () => {};

/** Resolves when nothing is on its way. */
export async function idle() {
  while (sending.size) await settled;
}

document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
  if (ctx.request.method === "GET") return;
  if (!sending.size) settled = new Promise((resolve) => (settle = resolve));
  sending.add(ctx);
});
document.addEventListener("htmx:finally:request", ({ detail: { ctx } }) => {
  if (sending.delete(ctx) && !sending.size) settle();
});
