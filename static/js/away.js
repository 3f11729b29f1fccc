// In a lesson: only the panels that it has used so far, and those that somebody opened. One button shows all of them.

import { read, write } from './storage.js';

const PANES = ['bindings', 'faults', 'inspector', 'timeline'];
const bench = document.getElementById('bench');
const button = document.getElementById('all-panels');
const used = new Set(); // what was there once stays
let limited = false; // a lesson says what it uses
let all = read('all-panels') === 'on';

/** Return true if a lesson may keep the tab of a stage away. */
export const isLimited = () => limited;

const isAway = (panel) => limited && !all && !used.has(panel);

/** Hide what is away. Without an open tab, the decision is. */
export function markAway() {
  const { tab } = bench.dataset;
  bench.dataset.away = [...PANES.filter(isAway), ...(isAway(tab) ? ['decision'] : [])].join(' ');
  for (const other of document.querySelectorAll('.tab')) other.classList.toggle('is-away', isAway(other.dataset.tab));
  button.hidden = !limited;
  button.setAttribute('aria-pressed', String(all));
}

export function bring(panel) {
  used.add(panel);
  markAway();
}

/** Return true if the tab of a stage may open: stages bring the tabs about decisions, and no others. */
export function comes(tab) {
  if (document.getElementById(`tab-${tab}`)?.closest('.tabs-g').querySelector('[data-tabs="decision"]')) used.add(tab);
  return !isAway(tab);
}

/** After every update: bring what the lesson uses now. */
export function settleAway() {
  const { needs } = document.getElementById('panel-lesson').dataset;
  limited = needs !== undefined;
  for (const panel of (needs ?? '').split(' ')) used.add(panel);
  markAway();
}

button.addEventListener('click', () => {
  all = !all;
  write('all-panels', all ? 'on' : '');
  markAway();
});
