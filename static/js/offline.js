// Says when the device has no connection; what is typed meanwhile is kept by unsent.js.
const bar = document.getElementById("offline");

function show() {
  bar.hidden = navigator.onLine;
}

window.addEventListener("online", show);
window.addEventListener("offline", show);
show();
