// A slow Settle: the command runs as always, then the page shows its moments one after another, as if somebody dragged the
// knob of the timeline. With reduced motion nothing moves, and a list tells the same sentences.

import { sayCalmly } from './notices.js';
import { read, write } from './storage.js';
import { choose, look, present, view } from './view.js';
import { say } from './words.js';

const LONGEST_MS = 1600;
const LEAST_MS = 280;
const MOST_MS = 19000; // of a whole story
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const byId = (id) => document.getElementById(id);
const app = byId('app');
const box = byId('story');
const list = () => byId('story-steps');
const steps = () => [...list().querySelectorAll('[data-at]')];

// The story that is told: `held`: the moment before the command; `command`: its number; `end`: the present after it, '' until
// the steps have arrived; `at`: the moment that the page asked for; `from`, `starts`: when it began, and each step after that.
let told = null;
let timer = 0;

/** Return when each of `many` steps begins: the first ones slowly, then faster, so that the whole is short enough. */
function pace(many) {
  let lasts = [];
  for (let slower = 1; slower > 0.5; slower -= 0.01) {
    lasts = Array.from({ length: many }, (_, step) => Math.round(Math.max(LEAST_MS, LONGEST_MS * slower ** step)));
    if (lasts.reduce((sum, ms) => sum + ms, 0) <= MOST_MS) break;
  }
  let sum = 0;
  return lasts.map((ms) => { sum += ms; return sum - ms; });
}

function show(at) {
  told.at = at === present() ? '' : at;
  choose({ at: told.at, cycle: 0 });
}

const arrived = () => byId('panel-timeline').dataset.asked === view.at;

/** Light a step, whose moment the page shows. */
function light(now) {
  const all = steps();
  for (const [number, step] of all.entries()) step.parentElement.classList.toggle('is-now', number === now);
  byId('story-far').value = now + 1;
  byId('story-count').textContent = say('script.story-count', { step: now + 1, steps: all.length });
}

/** Ask for the step that is due, once the page shows the one before, so that a slow line leaves steps out. */
function tell() {
  clearTimeout(timer);
  if (!told?.end || !arrived()) return;
  const past = performance.now() - told.from;
  const now = told.starts.findLastIndex((start) => start <= past);
  const all = steps();
  if (told.step >= 0) light(told.step);
  if (now !== told.step) {
    told.step = now;
    show(all[now].dataset.at);
    if (!arrived()) return;
    light(now);
  }
  const ends = now + 1 < all.length ? told.starts[now + 1] : told.starts[now] + LONGEST_MS;
  if (past >= told.starts.at(-1) + LONGEST_MS) finish();
  else timer = setTimeout(tell, Math.ceil(ends - past));
}

/** Close the story. `stay`: somebody chose another moment, which stays in view. */
function finish({ stay = false } = {}) {
  clearTimeout(timer);
  told = null;
  app.classList.remove('is-told');
  box.hidden = true;
  byId('story-list').replaceChildren();
  if (!stay) look('');
}

/** Hold the page at the moment before the command, so that its result does not come before its story. */
function begin() {
  const { head } = byId('panel-toolbar').dataset;
  told = { held: present(), command: Number(head) + 1, end: '', at: present(), from: 0, starts: [], step: -1 };
  app.classList.add('is-told');
  for (const menu of document.querySelectorAll('details.about[open]')) menu.open = false; // they would cover the story
  choose({ at: told.at, cycle: 0 });
}

async function fetchSteps() {
  const mine = told;
  const answer = await fetch(`${app.dataset.base}story/?n=${mine.command}`).catch(() => null);
  if (told !== mine) return;
  if (!answer?.ok) return finish();
  byId('story-list').innerHTML = await answer.text();
  const all = steps();
  if (told !== mine || all.length < 2) return finish();
  box.classList.toggle('is-list', calm.matches);
  box.hidden = false;
  list().inert = !calm.matches;
  byId('story-far').max = all.length;
  if (calm.matches) {
    finishMoving();
    return;
  }
  Object.assign(told, { end: list().dataset.end, from: performance.now(), starts: pace(all.length) });
  byId('live').textContent = say('script.story-begins', { count: all.length });
  tell();
}

/** Leave the list in view, and the page at the present. */
function finishMoving() {
  told = null;
  app.classList.remove('is-told');
  byId('story-count').textContent = say('script.story-listed', { count: steps().length });
  look('');
  list().focus({ preventScroll: true });
}

/** Return true if somebody acted since the story began: the present is neither that before the command nor that after it. */
const elsewhere = () => told.end && present() !== told.end && present() !== told.held;

document.body.addEventListener('htmx:wsAfterMessage', () => {
  if (!told) return;
  if (elsewhere()) {
    finish();
    sayCalmly(say('script.story-stopped'));
  } else if (view.at !== told.at) finish({ stay: true });
  else tell();
});

/** Show the end of a running story. A list is closed without a change of the moment in view. */
const close = () => finish({ stay: !told });

export function tellSlowly() {
  const button = byId('do-settle');
  const slow = byId('slow');
  if (!button) return;
  const set = (on) => {
    for (const twin of document.querySelectorAll('#slow, [data-press="slow"]')) twin.setAttribute('aria-pressed', String(on));
    app.classList.toggle('is-slow', on); // the line of the sentence is as high as a story then
    write('slow-settle', on ? 'on' : '');
  };
  set(read('slow-settle') === 'on');
  slow.addEventListener('click', () => set(slow.getAttribute('aria-pressed') !== 'true'));
  byId('story-skip').addEventListener('click', close);

  // Before htmx sends the command: the same button, and its key, skip the rest of the story.
  document.addEventListener('click', (event) => {
    if (!event.target.closest('#do-settle') || box.hidden) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    finish();
  }, true);
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || box.hidden || event.target.closest('dialog[open]')) return;
    event.preventDefault();
    close();
  }, true);
  document.body.addEventListener('htmx:beforeSend', ({ detail: { elt, requestConfig: { verb } } }) => {
    if (verb !== 'post' || elt.id === 'stop') return;
    if (!box.hidden || told) finish();
    if (elt === button && slow.getAttribute('aria-pressed') === 'true') begin();
  });
  document.body.addEventListener('htmx:afterRequest', ({ detail: { elt, successful } }) => {
    if (elt !== button || !told) return;
    if (successful) fetchSteps();
    else finish();
  });
}
