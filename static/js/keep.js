// An update changes panels, and replaces parts of them. This keeps what a person would miss: focus, scrolling, what is
// unfolded, what is being typed. Cards move from their old places.

import { rememberFields, restoreFields } from './edits.js';
import { cellOf, focusCell } from './matrix.js';
import { aims, steady } from './steady.js';
import { leaveTrails, rememberCard, whereOf } from './trail.js';
import { sameThing, whoseOf } from './whose.js';

const calm = matchMedia('(prefers-reduced-motion: reduce)');
const MOST = 120;
const CARDS = '[id^="q:"], [id^="p:"]';

function boxes() {
  const places = new Map();
  if (calm.matches) return places;
  for (const card of document.querySelectorAll(CARDS)) {
    if (places.size >= MOST) break;
    const box = card.getBoundingClientRect();
    if (box.width) places.set(card.id, rememberCard(card, box));
  }
  return places;
}

/** Focus the text of the lesson: Tab leads from there to what is new. */
export const focusLesson = () => document.getElementById('scroll-lesson')?.focus({ preventScroll: true });

const hush = (event) => event.stopImmediatePropagation();

/** Replace without change events: Chromium sends one when a field leaves the page, which would send a half-typed number. */
export function quietly(replace) {
  document.addEventListener('change', hush, true);
  try { replace(); } finally { document.removeEventListener('change', hush, true); }
}

const inspected = () => whoseOf(document.getElementById('scroll-inspector'));

export function remember() {
  const active = document.activeElement;
  return {
    focus: active && active !== document.body ? active.id : '',
    whose: whoseOf(active),
    learns: active?.closest('#lesson') ?? null,
    cell: cellOf(active),
    cursor: rememberFields(),
    scrolls: [...document.querySelectorAll('.scroll[id], .ribbon')].map((box) => [box, box.scrollTop, box.scrollLeft]),
    unfolded: [...document.querySelectorAll('details[open] > summary[id]')].map((summary) => summary.id),
    code: document.querySelector('.insp-code:not(:empty)')?.innerHTML ?? '',
    who: inspected(),
    boxes: boxes(),
    aims: aims(),
  };
}

/** Put it back after an update that includes the changes up to `count`. Change the page first, then ask for places. */
export function restore(kept, count) {
  for (const id of kept.unfolded) {
    const details = document.getElementById(id)?.parentElement;
    if (details) details.open = true;
  }
  const other = kept.who !== inspected();
  const code = document.querySelector('.insp-code');
  if (code && other) code.replaceChildren();
  else if (code?.matches(':empty') && kept.code) code.innerHTML = kept.code;
  for (const [box, top, left] of kept.scrolls) {
    const now = box.isConnected ? box : document.getElementById(box.id);
    if (other && now?.id === 'scroll-inspector') now.scrollTop = 0;
    else if (now && now !== box) { now.scrollTop = top; now.scrollLeft = left; }
  }
  if (kept.focus && document.activeElement?.id !== kept.focus) {
    sameThing(kept.focus, kept.whose)?.focus({ preventScroll: true });
  }
  restoreFields(kept.cursor, count);
  if (kept.learns && document.activeElement === document.body) focusLesson();
  if (kept.cell && document.activeElement === document.body) focusCell(kept.cell);
}

/** Return true if the page still shows the cards of a lane or a node. */
const shows = (where) => document.querySelector(`article[data-node="${CSS.escape(where)}"], [data-queue="${CSS.escape(where)}"]`);

const moving = new WeakMap(); // card → its last animation

/** Move cards from their old places, but not what is aimed at. Ask for all places before the first move. */
export function travel({ boxes: before, aims: known }) {
  steady(known);
  if (calm.matches || !before.size) return;
  const moves = [];
  const changes = []; // moves to another lane or node
  const here = new Set(); // keys of pods that have a card
  const cards = document.querySelectorAll(CARDS);
  for (const card of cards) moving.get(card)?.cancel();
  for (const card of cards) {
    const key = card.id.slice(2);
    const from = before.get(card.id) ?? before.get(`q:${key}`) ?? before.get(`p:${key}`);
    here.add(key);
    if (!from) continue;
    const to = card.getBoundingClientRect();
    const x = from.box.left - to.left;
    const y = from.box.top - to.top;
    if (!to.width || Math.abs(x) + Math.abs(y) <= 3) continue;
    moves.push([card, x, y]);
    if (from.where !== whereOf(card)) changes.push({ before: from, box: to, around: card.closest('.scroll') });
    if (moves.length > MOST) break;
  }
  const style = getComputedStyle(document.documentElement);
  const timing = { duration: parseFloat(style.getPropertyValue('--m-slow')), easing: style.getPropertyValue('--ease').trim(), id: 'came' };
  const left = [...before].filter(([id, { where }]) => !here.has(id.slice(2)) && shows(where)).map(([, card]) => card);
  leaveTrails(changes, left, { duration: 2 * timing.duration, easing: 'ease-in' });
  for (const [card, x, y] of moves) moving.set(card, card.animate([{ transform: `translate(${x}px, ${y}px)`, opacity: 0.4 }, {}], timing));
}
