// Filters the scenarios of the start page by letters and by group.

import { fillFigures } from './figure.js';
import { matching } from './matching.js';
import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const text = byId('scen-find');
const group = byId('scen-group');
const rows = [...document.querySelectorAll('.scen-g > li')];

function show() {
  const fits = matching(text.value);
  let title = null;
  let count = 0;
  for (const row of rows) {
    if (row.matches('.scen-t')) title = row;
    row.hidden = row === title || (group.value && title.textContent !== group.value) || !fits(row);
    if (row.hidden) continue;
    title.hidden = false;
    count += 1;
  }
  byId('scen-none').textContent = text.value || group.value ? say(count ? 'script.scenarios' : 'script.no-scenarios', { count }) : '';
}

if (text) {
  for (const row of rows) if (row.matches('.scen-t')) group.append(new Option(row.textContent, row.textContent));
  text.value = new URLSearchParams(location.search).get('find') ?? '';
  text.closest('p').hidden = false;
  text.addEventListener('input', show);
  group.addEventListener('change', show);
  show();
}

fillFigures();
