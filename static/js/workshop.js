// A page of a room: it puts in place what the live line brings, and keeps everything else as it is.

import { patch } from './patch.js';

const htmx = window.htmx;
const room = document.getElementById('room');
const byId = (id) => document.getElementById(id);
const NOT_FOUND = 4404;

let closed = false;
document.body.addEventListener('htmx:wsOpen', () => { byId('lost').hidden = true; closed = false; });
document.body.addEventListener('htmx:wsClose', ({ detail: { event, socketWrapper } }) => {
  closed = true;
  if (event.code === NOT_FOUND) return;
  byId('lost').hidden = false;
  setTimeout(() => { if (closed) socketWrapper.reconnect(); }, 1000 + Math.random() * 2000);
});
document.body.addEventListener('htmx:wsBeforeMessage', (event) => {
  event.preventDefault();
  const { message } = event.detail;
  if (message.startsWith('{')) return gone();
  const made = document.createElement('template');
  made.innerHTML = message;
  for (const part of [...made.content.children]) patch(part, (element) => htmx.process(element));
  take();
  tick();
});

// A sandbox is made when the page of its owner asks for it, once for each that was sent.
let taken = '';
function take() {
  const wanted = document.querySelector('[data-takes]')?.dataset.takes;
  if (!wanted || wanted === taken) return;
  taken = wanted;
  htmx.ajax('POST', 'take/', { target: '#notice', swap: 'innerHTML' });
}
take();

/** The room knows this page no longer. */
function gone() {
  room.replaceChildren(byId('gone').content.cloneNode(true));
}

const UNITS = [[3600, 'h'], [60, 'min'], [1, 's']];

function ago(seconds) {
  const [size, unit] = UNITS.find(([least]) => seconds >= least) ?? [1, 's'];
  return `${Math.floor(Math.max(0, seconds) / size)} ${unit}`;
}

function tick() {
  for (const time of document.querySelectorAll('time[data-since]')) {
    const told = ago(Date.now() / 1000 - Number(time.dataset.since));
    if (time.textContent !== told) time.textContent = told;
  }
}
setInterval(tick, 1000);
tick();

// The trainer's panes: both stay as they are while the other one is in view.
const tabs = [...document.querySelectorAll('.room-tabs [role="tab"]')];
function choose(chosen) {
  for (const tab of tabs) {
    tab.setAttribute('aria-selected', String(tab === chosen));
    tab.tabIndex = tab === chosen ? 0 : -1;
    byId(tab.getAttribute('aria-controls')).hidden = tab !== chosen;
  }
}
for (const tab of tabs) tab.addEventListener('click', () => choose(tab));
document.querySelector('.room-tabs')?.addEventListener('keydown', ({ key }) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step) return;
  const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
  next.focus();
  choose(next);
});
