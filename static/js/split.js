// The height of the decision pane: dragged, set by arrow keys, or the whole page.

import { read, write } from './storage.js';

const byId = (id) => document.getElementById(id);
const bench = byId('bench');
const split = byId('split');
const changed = () => document.dispatchEvent(new CustomEvent('look-changed'));

function setHeight(height) {
  const percent = Math.round(Math.min(80, Math.max(10, 100 * height / bench.clientHeight)));
  bench.style.setProperty('--decision', `${percent}%`);
  split.setAttribute('aria-valuenow', String(percent));
  write('decision', String(percent));
}

split.addEventListener('pointerdown', (event) => {
  split.setPointerCapture(event.pointerId);
  split.onpointermove = (move) => setHeight(bench.getBoundingClientRect().bottom - move.clientY);
  split.onpointerup = () => { split.onpointermove = null; changed(); };
});
split.addEventListener('dblclick', () => { bench.style.removeProperty('--decision'); write('decision', ''); changed(); });
split.addEventListener('keydown', (event) => {
  const step = { ArrowUp: 24, ArrowDown: -24 }[event.key];
  if (!step) return;
  event.preventDefault();
  setHeight(byId('decision').clientHeight + step);
  changed();
});
if (Number(read('decision'))) bench.style.setProperty('--decision', `${Number(read('decision'))}%`);

const enlarge = byId('enlarge');
enlarge.addEventListener('click', () => {
  const large = bench.classList.toggle('is-large');
  enlarge.setAttribute('aria-pressed', String(large));
  changed();
});
