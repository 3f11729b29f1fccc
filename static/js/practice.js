// The page of practice: the questions that are due in this browser.

import { cardsOf, forgetAnswers } from './answered.js';
import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const place = byId('due');

/** Return [topic, level, title] of a card's key, undefined if this site has no such topic or level. */
function topicOf(key) {
  const [, topic, level] = /^(.+)-(\d)$/.exec(key) ?? [];
  if (!document.querySelector(`input[name="level"][value="${level}"]`)) return undefined;
  const title = document.querySelector(`label[data-topic="${CSS.escape(topic ?? '')}"] b`)?.textContent;
  return title && [topic, level, title];
}

function row([topic, level, title], count) {
  const line = place.querySelector('template').content.cloneNode(true);
  const form = line.querySelector('form');
  form.elements.topic.value = topic;
  form.elements.level.value = level;
  form.querySelector('span').textContent = say('script.practice-due', { count, topic: title, level });
  return line;
}

function show() {
  const cards = cardsOf().filter(({ key }) => topicOf(key));
  const due = cards.filter((card) => card.due <= Date.now());
  const later = cards.slice(due.length);
  const counts = Map.groupBy(due, ({ key }) => key);
  place.hidden = !cards.length;
  place.querySelector('ul').replaceChildren(...[...counts].map(([key, { length }]) => row(topicOf(key), length)));
  const day = later.length ? new Date(later[0].due).toLocaleDateString('en', { day: 'numeric', month: 'long' }) : '';
  byId('due-later').textContent = later.length ? say('script.practice-later', { count: later.length, day }) : '';
}

byId('due-forget').addEventListener('click', () => { forgetAnswers(); show(); });
// A page that comes back from the browser's cache shows what was answered since.
window.addEventListener('pageshow', show);
