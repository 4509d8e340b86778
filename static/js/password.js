// A button beside a password shows it, for as long as its page is open and until it is sent.
for (const button of document.querySelectorAll("[data-shows-password]")) {
  const field = document.getElementById(button.getAttribute("aria-controls"));

  const show = (visible) => {
    field.type = visible ? "text" : "password";
    button.setAttribute("aria-pressed", String(visible));
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    show(field.type === "password");
    field.focus();
  });
  // Browsers keep for the next time what is in a field of passwords, and no other.
  field.form.addEventListener("submit", () => show(false));
}
