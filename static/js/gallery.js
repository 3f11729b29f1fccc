// A list that a person narrows by letters, by topic and by level. The address holds what they chose, so it can be shared.

import { matching } from './matching.js';
import { say } from './words.js';

/**
 * The form of a list: its fields `find`, `topic` and `level` hide the rows that do not match, and the headings without rows.
 * Rows have `data-topic` and `data-level`, headings `data-heading`. `words`: the keys of what the form says: how many rows
 * there are, and that there are none.
 */
export function narrow(form, rows, headings, words) {
  const { find, topic, level } = form.elements;
  const fields = [find, topic, level].filter(Boolean);
  const status = form.querySelector('[role=status]');
  const all = form.querySelector('[type=reset]');

  function show() {
    const fits = matching(find.value);
    let count = 0;
    for (const row of rows) {
      row.hidden = [topic, level].some((field) => field?.value && row.dataset[field.name] !== field.value) || !fits(row);
      if (!row.hidden) count += 1;
    }
    const topics = new Set(rows.filter((row) => !row.hidden).map((row) => row.dataset.topic));
    for (const heading of headings) heading.hidden = !topics.has(heading.dataset.heading);
    const chosen = fields.some((field) => field.value);
    all.hidden = !chosen;
    status.textContent = chosen ? say(count ? words.some : words.none, { count }) : '';
  }

  function address() {
    const params = new URLSearchParams(location.search);
    for (const { name, value } of fields) { if (value) params.set(name, value); else params.delete(name); }
    const query = String(params);
    history.replaceState(history.state, '', `${location.pathname}${query ? `?${query}` : ''}${location.hash}`);
  }

  const change = () => { show(); address(); };
  const known = new URLSearchParams(location.search);
  for (const field of fields) field.value = known.get(field.name) ?? '';
  for (const field of fields) if (field.selectedIndex === -1) field.value = ''; // the address names nothing that there is
  form.hidden = false;
  form.addEventListener('input', change);
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(() => { change(); find.focus(); }));
  show();
}
