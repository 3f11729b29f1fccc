// The progress of this browser, on the pages that start lessons.

import { narrow } from './gallery.js';
import { progress } from './progress.js';
import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const lessons = progress();

function textOf({ part, parts, done, best }) {
  if (best !== undefined) return say('script.lesson-best', { cost: String(best) });
  return done ? say('script.lesson-done') : say('script.lesson-part', { part: Math.min(part + 1, parts), parts });
}

for (const place of document.querySelectorAll('[data-lesson]')) {
  const entry = lessons[place.dataset.lesson];
  if (!entry) continue;
  place.classList.add(entry.done ? 'is-learnt' : 'is-begun');
  const sign = document.createElement('em');
  sign.className = 'far';
  sign.textContent = textOf(entry);
  (place.querySelector('.path-l, .scen-b') ?? place).append(sign);
  if (entry.done || !entry.at) continue;
  const link = document.createElement('a');
  link.className = 'lnk';
  link.href = entry.at;
  link.textContent = say('script.continue');
  (place.closest('li') ?? place).append(link);
}

const far = byId('far');
if (far) {
  const cards = [...document.querySelectorAll('.path-l')];
  const names = cards.length ? cards.map((card) => card.dataset.lesson) : far.dataset.names.trim().split(' ');
  const done = names.filter((name) => lessons[name]?.done).length;
  if (done) far.textContent = say('script.lessons-done', { done, lessons: names.length });
  const next = cards.find((card) => !lessons[card.dataset.lesson]?.done);
  const form = byId('go-on');
  if (form && next && cards.some((card) => lessons[card.dataset.lesson])) {
    form.elements.lesson.value = next.dataset.lesson;
    form.querySelector('span').textContent = say('script.continue-with', { title: next.dataset.title });
  }
}

const form = byId('learn-form');
const all = (selector) => [...document.querySelectorAll(selector)];
if (form) narrow(form, all('.beliefs > [data-topic]'), all('[data-heading]'), { some: 'script.sentences', none: 'script.no-sentences' });

// A link from a lesson leads to one of them, to read what is true.
function unfold() {
  const details = byId(location.hash.slice(1))?.querySelector('details');
  if (details) details.open = true;
}
addEventListener('hashchange', unfold);
unfold();
