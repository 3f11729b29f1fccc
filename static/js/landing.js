// Filters the scenarios of the first page by letters and by part.

import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const text = byId('scen-find');
const part = byId('scen-part');
const rows = [...document.querySelectorAll('.scen-g > li')];

function show() {
  const wanted = text.value.trim().toLowerCase().split(/\s+/);
  let title = null;
  let shown = 0;
  let count = 0;
  const end = () => { if (title) title.hidden = !shown; };
  for (const row of rows) {
    if (row.matches('.scen-t')) {
      end();
      title = row;
      shown = 0;
      continue;
    }
    const words = row.textContent.toLowerCase();
    const here = !part.value || title.textContent === part.value;
    row.hidden = !here || !wanted.every((word) => words.includes(word));
    if (!row.hidden) { shown += 1; count += 1; }
  }
  end();
  byId('scen-none').textContent = text.value || part.value ? say(count ? 'script.scenarios' : 'script.no-scenarios', { count }) : '';
}

if (text) {
  for (const row of rows) if (row.matches('.scen-t')) part.append(new Option(row.textContent, row.textContent));
  text.value = new URLSearchParams(location.search).get('find') ?? '';
  text.closest('p').hidden = false;
  text.addEventListener('input', show);
  part.addEventListener('change', show);
  show();
}
