// Panels folded to their headings. This browser remembers them.

import { read, write } from './storage.js';
import { say } from './words.js';

const bench = document.getElementById('bench');
const folded = new Set((read('folded') ?? '').split(' ').filter(Boolean));

/** After every update: keep panels folded, and label the buttons. */
export function settleFolds() {
  bench.dataset.folded = [...folded].join(' ');
  for (const button of document.querySelectorAll('[data-fold]')) {
    const open = !folded.has(button.dataset.fold);
    button.setAttribute('aria-expanded', String(open));
    button.title = say(open ? 'script.fold' : 'script.unfold');
    button.setAttribute('aria-label', button.title);
  }
}

const OTHER = { cluster: 'decision', decision: 'cluster' }; // one above the other: they share their height

export function fold(button) {
  const panel = button.dataset.fold;
  if (!folded.delete(panel)) {
    folded.add(panel);
    folded.delete(OTHER[panel]);
  }
  changed();
}

export function unfold(panel) {
  if (folded.delete(panel)) changed();
}

function changed() {
  write('folded', [...folded].join(' '));
  settleFolds();
  document.dispatchEvent(new CustomEvent('look-changed'));
}
