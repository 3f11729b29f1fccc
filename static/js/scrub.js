// The timeline: its knob is dragged, its marks are clicked, and the arrow keys go from mark to mark. Which moment a mark
// stands for the server has written on it.

import { aimedAt } from './steady.js';

const byId = (id) => document.getElementById(id);
const line = () => byId('panel-timeline');

/** Marks in the order in which they happened; several may stand for one moment. */
function marks(kind = '[data-entry]') {
  return [...line().querySelectorAll(`ol ${kind}[data-entry]`)].sort((a, b) => a.dataset.entry - b.dataset.entry);
}

let aim = null; // the mark that was gone to, until the page shows what was asked for
const here = () => aim ?? Number(line().dataset.nowEntry);
const isPast = () => line().dataset.now !== '';

/** Where a mark is, from the left end of the line; a box ends where its time ends. */
function place(mark) {
  const box = mark.getBoundingClientRect();
  const around = mark.closest('li').getBoundingClientRect(); // a box with many marks hides the last ones
  const x = Math.min(around.right, Math.max(around.left, mark.tagName === 'I' ? box.left : box.right));
  return x - byId('scroll-time').getBoundingClientRect().left + byId('scroll-time').scrollLeft;
}

/** Where the moment in view is: at the last mark that is not later; the present is at the end of the line. */
function placeNow() {
  if (!isPast()) return null;
  const last = marks().filter((mark) => Number(mark.dataset.entry) <= Number(line().dataset.nowEntry) && mark.checkVisibility()).at(-1);
  return last ? place(last) : 0;
}

let seen = ''; // the moment that the knob was brought in sight for
let before = ''; // the moment that was asked for then

/** Put the knob at the moment in view. When that is another one than before, bring the knob in sight. `at`: the moment
 * that the page asks for.
 */
export function settleKnob(at) {
  const { asked, now, nowEntry } = line().dataset;
  if (asked === at) aim = null;
  const knob = byId('knob');
  if (!knob) return;
  const left = placeNow();
  knob.style.left = left === null ? '' : `${left}px`;
  const scroll = byId('scroll-time');
  const moment = `${now} ${nowEntry} ${scroll.clientWidth}`;
  const aimed = aimedAt(scroll);
  if (moment === seen || (aimed && asked === before)) return; // A mark that somebody aims at stays where it is.
  [seen, before] = [moment, asked];
  const x = left ?? scroll.scrollWidth;
  const edge = aimed ? 0 : 40;
  if (x < scroll.scrollLeft + edge || x > scroll.scrollLeft + scroll.clientWidth - edge) scroll.scrollLeft = left === null ? x : x - scroll.clientWidth / 2;
}

/** The mark that is nearest to a place on the screen; null: to the right of all. */
function nearest(x) {
  const found = marks('i').concat(marks('.cmd button'));
  let best = null;
  let least = Infinity;
  for (const mark of found) {
    const box = mark.getBoundingClientRect();
    const away = Math.abs(box.left + box.width / 2 - x);
    if (away <= least) { best = mark; least = away; }
  }
  const right = Math.max(...found.map((mark) => mark.getBoundingClientRect().right));
  return x > right + 24 ? null : best;
}

/** ``look``: called with the address of a moment, '' for the present. */
export function scrub(look) {
  let held = false;
  document.addEventListener('pointerdown', (event) => {
    if (event.target.id !== 'knob' || event.button) return;
    held = true;
    event.preventDefault(); // nothing is selected while the knob moves
    byId('app').setPointerCapture(event.pointerId); // the knob itself is replaced with its panel
    document.documentElement.classList.add('is-scrubbing');
  });
  document.addEventListener('pointermove', (event) => {
    if (!held) return;
    const scroll = byId('scroll-time').getBoundingClientRect();
    if (event.clientX > scroll.right - 24) byId('scroll-time').scrollLeft += 12;
    if (event.clientX < scroll.left + 24) byId('scroll-time').scrollLeft -= 12;
    aim = null;
    look(nearest(event.clientX)?.dataset.at ?? '');
  });
  for (const name of ['pointerup', 'pointercancel']) {
    document.addEventListener(name, () => {
      held = false;
      document.documentElement.classList.remove('is-scrubbing');
    });
  }
  return {
    /** One mark on or back, of all or of the cycles alone; whether there was one. */
    go(step, byCycle) {
      const list = byCycle ? marks('.cyc button') : marks().filter((mark) => !mark.matches('.cyc button'));
      const next = step < 0
        ? list.filter((mark) => Number(mark.dataset.entry) < here()).at(-1)
        : list.find((mark) => Number(mark.dataset.entry) > here());
      if (next) { aim = Number(next.dataset.entry); look(next.dataset.at); }
      else if (step > 0) { aim = null; look(''); }
    },
    first: () => { aim = null; look(line().dataset.start); },
  };
}
