// Times within a day are told relative to now; older ones stay as the server wrote them.
const DAY = 86_400;
const language = document.documentElement.lang;
const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });

function tell(element) {
  const age = (Date.now() - Date.parse(element.dateTime)) / 1000;
  if (!(age < DAY)) return;
  element.title ||= element.textContent;
  const minutes = Math.max(0, Math.round(age / 60));
  const [count, unit] = minutes < 1 ? [0, "second"] : minutes < 60 ? [minutes, "minute"] : [Math.round(minutes / 60), "hour"];
  element.textContent = relative.format(-count, unit);
}

function tellAll() {
  for (const element of document.querySelectorAll("time[datetime]")) tell(element);
}

tellAll();
setInterval(tellAll, 60_000);
document.addEventListener("htmx:after:swap", tellAll);
