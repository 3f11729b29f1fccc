// The fields over long lists on the pages of answers: they hide the rows that do not have the words in them.

import { matching } from './matching.js';
import { say } from './words.js';

const FIELDS = '[data-narrows]';

document.addEventListener('input', ({ target }) => {
  if (!target.matches(FIELDS)) return;
  const rows = [...target.closest('section').querySelectorAll(':is(tbody tr, .ans-l > li)')];
  const fits = matching(target.value);
  for (const row of rows) row.hidden = !fits(row);
  const count = rows.filter((row) => !row.hidden).length;
  target.closest('p').querySelector('[role="status"]').textContent = target.value.trim() ? say(count ? 'script.rows' : 'script.no-rows', { count, rows: rows.length }) : '';
});

/** Without scripts the fields would do nothing. */
function show() {
  for (const field of document.querySelectorAll(FIELDS)) field.closest('p').hidden = false;
}

document.addEventListener('htmx:afterSwap', show);
show();
