import { say } from './words.js';

const COPIED_MS = 1500;

/** Copy a text, and say so on the button for a moment. */
export async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure connection there is no clipboard: the old command copies a selected field.
    const field = Object.assign(document.createElement('textarea'), { value: text });
    button.after(field);
    field.select();
    document.execCommand('copy');
    field.remove();
    button.focus();
  }
  button.dataset.usual ??= button.textContent;
  button.textContent = say('script.copied');
  setTimeout(() => { button.textContent = button.dataset.usual; }, COPIED_MS);
}

/** Buttons that copy the field that they name. */
export function copies(box) {
  box.addEventListener('click', ({ target }) => {
    const field = document.getElementById(target.closest('[data-copy]')?.dataset.copy);
    if (!field) return;
    field.select();
    copy(field.value, target);
  });
}
