// The tab "Workloads": − and + change the number at once, and send it as if typed.

import { edit } from './edits.js';

document.addEventListener('click', ({ target }) => {
  const button = target.closest('.w-box button');
  if (!button) return;
  const field = button.parentElement.querySelector('input');
  const number = /^\s*\d+\s*$/.test(field.value) ? Number(field.value) : Number(field.defaultValue);
  field.value = String(Math.max(0, number + Number(button.dataset.by)));
  edit(field);
  field.dispatchEvent(new Event('change', { bubbles: true }));
});
