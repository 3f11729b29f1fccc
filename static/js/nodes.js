// The tab "Nodes": the slider tells its amount while it moves and stays in the hand that holds it, and there are
// configurations to start from.

const app = document.getElementById('app');
let waiting = null; // messages that came while a slider is held, which an update would tear out of the hand

document.addEventListener('htmx:wsBeforeMessage', (event) => {
  if (!waiting) return;
  event.preventDefault();
  event.stopPropagation();
  waiting.push(event.detail);
}, true);

document.addEventListener('pointerdown', (event) => {
  if (event.target.matches('#panel-nodes .u-slide')) waiting ??= [];
});
for (const name of ['pointerup', 'pointercancel', 'blur']) window.addEventListener(name, () => setTimeout(release)); // after the slider's change
function release() {
  const messages = waiting ?? [];
  waiting = null;
  for (const detail of messages) window.htmx.trigger(app, 'htmx:wsBeforeMessage', detail);
}

document.addEventListener('input', (event) => {
  const field = document.getElementById(event.target.dataset?.text ?? '');
  if (field) field.value = event.target.value + event.target.dataset.unit;
});
document.addEventListener('click', (event) => {
  const text = event.target.closest('[data-kubelet-text]')?.dataset.kubeletText;
  if (text === undefined) return;
  const area = document.getElementById('nd-kubelet-text');
  area.value = text;
  area.focus();
});
