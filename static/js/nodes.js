// The tab "Nodes": the slider shows its amount while it moves, and buttons insert configurations to start from.

import { edit } from './edits.js';

document.addEventListener('input', (event) => {
  const field = document.getElementById(event.target.dataset?.text ?? '');
  if (!field) return;
  field.value = event.target.value + event.target.dataset.unit;
  edit(field);
});
document.addEventListener('click', (event) => {
  const text = event.target.closest('[data-kubelet-text]')?.dataset.kubeletText;
  if (text === undefined) return;
  const area = document.getElementById('nd-kubelet-text');
  area.value = text;
  edit(area);
  area.focus();
});
