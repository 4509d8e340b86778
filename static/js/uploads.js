// Files of a form: each is sent by itself as soon as it is chosen, in order, and again when the
// connection was lost. The key it is sent with is its own, so that it arrives once.
const TRIES = 4;
const PATIENCE = 120_000;

// What is on its way or could not be sent: it outlives a field that the server draws anew.
const waiting = new Set();
let line = Promise.resolve();

class Upload {
  constructor(root, file, name) {
    this.field = root.dataset.uploads;
    this.form = root.closest("form");
    this.facts = { ...root.dataset };
    this.file = Promise.resolve(file);
    this.key = crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random()}`;
    const blank = root.querySelector("[data-upload-blank]");
    this.item = document.importNode(blank.content, true).firstElementChild;
    this.item.upload = this;
    this.item.querySelector(".upload-name").textContent = name;
    this.name = name;
    waiting.add(this);
  }

  get root() {
    return [...document.querySelectorAll("[data-uploads]")].find(
      (one) => one.dataset.uploads === this.field && one.closest("form") === this.form,
    );
  }

  show(problem) {
    this.problem = problem;
    const said = this.item.querySelector("[data-upload-problem]");
    said.textContent = problem ?? "";
    said.parentElement.hidden = !problem;
    this.item.querySelector("progress").hidden = Boolean(problem);
    this.item.querySelector("[data-upload-again]").hidden = !problem || this.isHopeless;
  }

  begin() {
    this.show("");
    this.done = line = line.then(() => this.send()).catch(() => this.show(this.facts.lost));
    return this.done;
  }

  async send() {
    const file = await this.file;
    for (let time = 1; waiting.has(this) && !this.problem; time += 1) {
      const answer = await this.post(file);
      if (!waiting.has(this)) return;
      if (answer.status < 300 && answer.status) return this.arrive(answer.text);
      if (answer.status === 401) return location.assign(answer.signIn || "/");
      this.isHopeless = answer.status >= 400 && answer.status < 500 && answer.status !== 429;
      if (this.isHopeless || answer.status === 429) return this.show(saidIn(answer.text) || this.refusal(answer.status));
      if (time === TRIES) return this.show(this.facts.lost);
      await untilOnline(1000 * 3 ** (time - 1));
    }
  }

  refusal(status) {
    return (status === 413 && this.facts.tooLarge) || this.facts.lost;
  }

  post(file) {
    const body = new FormData();
    body.append("rules", this.facts.rules);
    body.append("key", this.key);
    body.append("file", file, this.name);
    const request = (this.request = new XMLHttpRequest());
    const bar = this.item.querySelector("progress");
    request.open("POST", this.facts.url);
    request.timeout = PATIENCE;
    request.setRequestHeader("X-CSRFToken", document.querySelector("meta[name=csrf-token]").content);
    request.setRequestHeader("HX-Request", "true");
    request.setRequestHeader("HX-Request-Type", "partial");
    request.upload.addEventListener("progress", ({ loaded, total }) => (bar.value = loaded / (total || 1)));
    return new Promise((resolve) => {
      request.addEventListener("loadend", () =>
        resolve({
          status: request.status,
          text: request.responseText,
          signIn: request.getResponseHeader("HX-Redirect"),
        }),
      );
      request.send(body);
    });
  }

  arrive(text) {
    const item = document.adoptNode(new DOMParser().parseFromString(text, "text/html").querySelector("li"));
    const { root } = this;
    this.item.replaceWith(item);
    this.leave();
    tell(root);
  }

  leave() {
    waiting.delete(this);
    this.request?.abort();
    this.item.remove();
  }
}

/** Add a file (or the promise of one) to the field of `root` and send it. */
export function addUpload(root, file, name) {
  const upload = new Upload(root, file, name);
  root.querySelector("[data-upload-list]").append(upload.item);
  return upload.begin();
}

function saidIn(text) {
  return new DOMParser().parseFromString(text, "text/html").querySelector("[role=alert] p")?.textContent;
}

function untilOnline(pause) {
  return new Promise((resolve) => {
    const wait = setTimeout(go, navigator.onLine ? pause : 30_000);
    function go() {
      clearTimeout(wait);
      window.removeEventListener("online", go);
      resolve();
    }
    window.addEventListener("online", go);
  });
}

// The form hears of it as of anything that was typed.
function tell(root) {
  root?.querySelector("[data-upload-none]").dispatchEvent(new Event("change", { bubbles: true }));
}

function say(root, words) {
  root.querySelector("[data-upload-status]").textContent = words;
}

// What is not taken at all takes up no room.
function count(root) {
  const items = [...root.querySelectorAll("[data-upload-list] > li")];
  return items.filter((item) => !(item.upload?.problem && item.upload.isHopeless)).length;
}

function take(root, files) {
  say(root, "");
  for (const file of files) {
    if (count(root) >= Number(root.dataset.most)) say(root, root.dataset.tooMany);
    else if (file.size > Number(root.dataset.largest)) say(root, `${file.name}: ${root.dataset.tooLarge}`);
    else addUpload(root, file, file.name);
  }
}

document.addEventListener(
  "change",
  (event) => {
    const root = event.target.matches("input[type=file]") && event.target.closest("[data-uploads]");
    if (!root) return;
    // Choosing is not yet an answer; arriving is.
    event.stopPropagation();
    const files = [...event.target.files];
    event.target.value = "";
    take(root, files);
  },
  true,
);

document.addEventListener("click", ({ target }) => {
  const again = target.closest("[data-upload-again]");
  if (again) again.closest("[data-upload]").upload.begin();
  const remove = target.closest("[data-upload-remove]");
  if (!remove) return;
  const item = remove.closest("[data-upload]");
  const root = item.closest("[data-uploads]");
  if (item.upload) item.upload.leave();
  else item.remove();
  say(root, "");
  tell(root);
  root.focus();
});

// A form is sent when its files are there; what could not be added is never left out in silence.
document.addEventListener(
  "submit",
  (event) => {
    const { target: form, submitter } = event;
    for (const pad of form.querySelectorAll("[data-unsent]")) pad.dispatchEvent(new CustomEvent("finish"));
    const open = [...waiting].filter((one) => one.form === form);
    if (!open.length) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    for (const one of open) say(one.root, one.problem ? one.facts.stuck : one.facts.waiting);
    Promise.all(open.map((one) => one.done)).then(() => {
      const stuck = open.find((one) => waiting.has(one));
      if (stuck) {
        say(stuck.root, stuck.facts.stuck);
        stuck.item.scrollIntoView({ block: "center" });
        return;
      }
      for (const one of open) if (one.root) say(one.root, "");
      form.requestSubmit(submitter);
    });
  },
  true,
);

// A field that was drawn anew keeps what is on its way.
document.addEventListener("htmx:after:swap", () => {
  for (const one of waiting) {
    if (!one.item.isConnected) one.root?.querySelector("[data-upload-list]").append(one.item);
  }
});

window.addEventListener("beforeunload", (event) => {
  if ([...waiting].some((one) => !one.problem)) event.preventDefault();
});
