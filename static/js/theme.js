// Light or dark at once, saved behind; without this file the same form simply posts.
const form = document.getElementById("theme-switch");
const PAPER = { light: "#fbf8f2", dark: "#171512" };

function show(theme) {
  document.documentElement.dataset.theme = theme;
  for (const button of form.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.value === theme));
  }
  for (const old of document.querySelectorAll("meta[name=theme-color]")) old.remove();
  for (const [name, color] of Object.entries(PAPER)) {
    if (theme !== "system" && theme !== name) continue;
    const meta = Object.assign(document.createElement("meta"), { name: "theme-color", content: color });
    if (theme === "system") meta.media = `(prefers-color-scheme: ${name})`;
    document.head.append(meta);
  }
}

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  show(event.submitter.value);
  try {
    await fetch(form.action, { method: "POST", body, redirect: "manual" });
  } catch {
    // Not saved: the choice holds for this page, and can be made again on the next.
  }
});
