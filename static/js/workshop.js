// A page of a room: it places what the live line sends, and keeps the rest as it is.

import { hasLost, keepAnswers, showAnswers } from './answers.js';
import { foldAsked, keepFolds, types } from './asked.js';
import { whenFree } from './hold.js';
import { keepLine } from './line.js';
import { fragment } from './no-answer.js';
import { keepNotes, takeNotes, typedNotes } from './notes.js';
import { patch } from './patch.js';
import './refusals.js';
import { forget, remember } from './rooms.js';
import { say } from './words.js';

const htmx = window.htmx;
const room = document.getElementById('room');
const byId = (id) => document.getElementById(id);

const line = keepLine(htmx, look);
document.body.addEventListener('htmx:wsBeforeMessage', (event) => {
  event.preventDefault();
  const { message } = event.detail;
  if (message.startsWith('{')) return hear(JSON.parse(message));
  whenFree(() => {
    for (const part of [...fragment(message).children]) put(part.id === 'desk' ? desk(part) : part);
    settle();
  });
});
const put = (part) => patch(part, (element) => htmx.process(element));

let waits = null; // the desk with a new sandbox from the trainer, while somebody types in the old one

/** Return the new desk, but with the sandbox in which somebody types. */
function desk(part) {
  const own = byId('desk-own');
  const next = part.querySelector('#desk-own, .desk-w');
  const moves = own && next && next.getAttribute('src') !== own.getAttribute('src');
  waits = moves && (waits || types(own)) ? part.cloneNode(true) : null;
  byId('sent').hidden = !waits;
  if (!waits) return part;
  const stay = own.cloneNode();
  stay.classList.toggle('is-behind', Boolean(part.querySelector('#desk-trainer')));
  stay.toggleAttribute('inert', next.hasAttribute('inert'));
  next.replaceWith(stay);
  return part;
}

byId('sent')?.querySelector('button').addEventListener('click', () => {
  byId('sent').hidden = true;
  put(waits);
  waits = null;
  settle();
});

let ahead = 0; // seconds by which the server's clock is ahead

function hear({ gone: why, now }) {
  if (why !== undefined) return gone(why);
  ahead = now - Date.now() / 1000;
  tick();
}

/** The room no longer knows this page. `why`: removed, left, deleted, or '' if the server does not say. */
function gone(why) {
  forget(room.dataset.room);
  const lost = hasLost();
  const links = document.querySelectorAll('.strip-own li');
  const notes = typedNotes();
  room.replaceChildren(byId('gone').content.cloneNode(true));
  for (const reason of room.querySelectorAll('[data-why]')) reason.hidden = reason.dataset.why !== why;
  byId('answer-lost').hidden = !lost;
  byId('kept').replaceChildren(...links);
  byId('notes-kept').hidden = !notes;
  byId('notes-kept').querySelector('pre').textContent = notes;
}

function settle() {
  take();
  tick();
  chosen();
  stay();
  takeNotes();
  showAnswers();
  foldAsked();
}

/** Remember who this is. If the browser cannot, show the code instead. */
function stay() {
  const name = document.querySelector('[data-name]');
  if (!name) return;
  const kept = remember(room.dataset.room, location.pathname, name.textContent);
  const code = document.querySelector('[data-code]');
  if (code) code.hidden = kept;
}

// A sandbox is created when the page of its owner asks for it, once.
let taken = '';
function take() {
  const form = document.querySelector('[data-takes]');
  if (!form || form.dataset.takes === taken) return;
  taken = form.dataset.takes;
  htmx.ajax('POST', 'take/', { source: form, swap: 'none' });
}
document.body.addEventListener('htmx:afterRequest', ({ detail: { xhr, requestConfig } }) => {
  if (requestConfig.path === 'take/' && !xhr.status) taken = ''; // ask again once the line is back
});
document.addEventListener('line-back', take);

const UNITS = [[3600, 'h'], [60, 'min'], [0, 's']];

function ago(seconds) {
  const [size, unit] = UNITS.find(([least]) => seconds >= least);
  return `${Math.floor(seconds / (size || 1))} ${unit}`;
}

function left(seconds) {
  const minutes = Math.floor(seconds / 60);
  return seconds > 0 ? `${minutes}:${String(Math.floor(seconds % 60)).padStart(2, '0')}` : say('script.time-up');
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function tick() {
  const now = Date.now() / 1000 + ahead;
  for (const time of document.querySelectorAll('time[data-since]')) write(time, ago(Math.max(0, now - time.dataset.since)));
  for (const due of document.querySelectorAll('time[data-due]')) {
    const seconds = due.dataset.due - now;
    write(due, say(seconds < 0 ? 'script.plan-behind' : 'script.plan-left', { time: ago(Math.abs(seconds)) }));
    due.classList.toggle('is-up', seconds < 0);
  }
  for (const timer of document.querySelectorAll('.timer')) {
    const seconds = timer.dataset.until - now;
    write(timer, left(seconds));
    timer.classList.toggle('is-up', seconds <= 0);
  }
}
setInterval(tick, 1000);

const tabs = [...document.querySelectorAll('.room-tabs [role="tab"]')];
function choose(tab) {
  for (const each of tabs) {
    each.setAttribute('aria-selected', String(each === tab));
    each.tabIndex = each === tab ? 0 : -1;
  }
  document.querySelector('.room-m').dataset.pane = tab.id.replace('tab-', '');
}
for (const tab of tabs) tab.addEventListener('click', () => choose(tab));
// On a wide screen the actions are beside the board and have no tab.
const wide = matchMedia('(min-width: 760.1px)');
wide.addEventListener('change', () => {
  if (wide.matches && byId('tab-do')?.ariaSelected === 'true') choose(byId('tab-board'));
});
document.querySelector('.room-tabs')?.addEventListener('keydown', ({ key }) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step) return;
  const shown = tabs.filter((tab) => tab.checkVisibility());
  const next = shown[(shown.indexOf(document.activeElement) + step + shown.length) % shown.length];
  next.focus();
  choose(next);
});

/** Send the order and the filter of the board. */
function look() {
  if (!byId('room-order')) return;
  line.send(JSON.stringify({ order: byId('room-order').value, find: byId('room-find').value }));
}
byId('room-order')?.addEventListener('change', look);
byId('room-find')?.addEventListener('input', look);

const picked = new Set(); // keys of the chosen people; none = all
room.addEventListener('change', ({ target }) => {
  if (target.dataset.who) {
    if (target.checked) picked.add(target.dataset.who);
    else picked.delete(target.dataset.who);
    chosen();
  }
  if ('sent' in target.dataset) target.form.elements.moment.value = target.value ? '0' : '1';
});
function chosen() {
  const here = byId('board')?.dataset.people.split(' ') ?? [];
  for (const key of picked) if (!here.includes(key)) picked.delete(key);
  for (const box of document.querySelectorAll('[data-who]')) box.checked = picked.has(box.dataset.who);
  for (const whom of document.querySelectorAll('[data-whom]')) write(whom, picked.size ? say('script.people-chosen', { count: picked.size }) : say('script.people-all'));
}
/** Return the moment that the trainer looks at, '' for the present. */
function inView() {
  const { location } = document.querySelector('#pane-own iframe').contentWindow;
  return new URLSearchParams(location.search).get('at') ?? '';
}
const SLOW_DOUBLE_CLICK = 1500; // milliseconds: the second click must not run the row that has come under the pointer
let ran = { by: null, at: 0 }; // the form that last ran a row of the plan, and when
document.body.addEventListener('htmx:configRequest', (event) => {
  const { detail } = event;
  const form = detail.elt.closest('form');
  if (form && form === ran.by && performance.now() - ran.at < SLOW_DOUBLE_CLICK) event.preventDefault();
  if (form && 'to' in form.dataset) for (const key of picked) detail.formData.append('to', key);
  if (form?.elements.moment?.value === '1') detail.formData.append('at', inView());
});
document.body.addEventListener('htmx:afterRequest', ({ detail }) => {
  const form = detail.elt.closest('form');
  if (detail.successful && detail.requestConfig.path === 'planned/') ran = { by: form, at: performance.now() };
  if (detail.successful && form && 'clears' in form.dataset) form.reset();
  if (detail.successful && byId('person')?.contains(detail.elt)) byId('person').close();
});

room.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-person]');
  if (!button) return;
  const box = byId('person');
  write(byId('person-h'), button.textContent);
  for (const field of box.querySelectorAll('[name="who"]')) field.value = button.dataset.person;
  box.querySelector('[name="name"]').value = button.textContent;
  for (const form of box.querySelectorAll('form')) form.dispatchEvent(new Event('input', { bubbles: true }));
  box.showModal();
});

settle();
if (room.dataset.role === 'participant') {
  keepFolds();
  keepAnswers();
  keepNotes();
}
