// The timeline: drag its knob, click its marks, or go from mark to mark with arrow keys. Each mark has the address of its
// moment.

import { aimedAt } from './steady.js';

const byId = (id) => document.getElementById(id);
const line = () => byId('panel-timeline');

const marks = (kind = '[data-entry]') => [...line().querySelectorAll(`ol ${kind}[data-entry]`)].sort((a, b) => a.dataset.entry - b.dataset.entry);

let aim = null; // the mark that was chosen, until the page shows it
const here = () => aim ?? Number(line().dataset.nowEntry);
const isPast = () => line().dataset.now !== '';

/** Return the distance of a mark from the left end of the line. A box counts at its end. */
function place(mark) {
  const box = mark.getBoundingClientRect();
  const around = mark.closest('li').getBoundingClientRect(); // a box with many marks hides the last ones
  const x = Math.min(around.right, Math.max(around.left, mark.tagName === 'I' ? box.left : box.right));
  return x - byId('scroll-time').getBoundingClientRect().left + byId('scroll-time').scrollLeft;
}

/** Return the place of the moment in view: that of the last mark not after it; null for the present. */
function placeNow() {
  if (!isPast()) return null;
  const last = marks().filter((mark) => Number(mark.dataset.entry) <= Number(line().dataset.nowEntry) && mark.checkVisibility()).at(-1);
  return last ? place(last) : 0;
}

let shown = ''; // the moment for which the knob was scrolled into view
let before = ''; // the moment that was asked for then

/** Put the knob at the moment in view, and scroll to it if that is a new one. `at`: the moment that the page asks for. */
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
  if (moment === shown || (aimed && asked === before)) return; // A mark that somebody aims at stays where it is.
  [shown, before] = [moment, asked];
  const x = left ?? scroll.scrollWidth;
  const edge = aimed ? 0 : 40;
  if (x < scroll.scrollLeft + edge || x > scroll.scrollLeft + scroll.clientWidth - edge) scroll.scrollLeft = left === null ? x : x - scroll.clientWidth / 2;
}

/** Return the mark nearest to a place on the screen, null to the right of all. */
function nearest(x) {
  const all = marks('i').concat(marks('.cmd button'));
  let best = null;
  let least = Infinity;
  for (const mark of all) {
    const box = mark.getBoundingClientRect();
    const away = Math.abs(box.left + box.width / 2 - x);
    if (away <= least) { best = mark; least = away; }
  }
  const right = Math.max(...all.map((mark) => mark.getBoundingClientRect().right));
  return x > right + 24 ? null : best;
}

/** `look`: called with the address of a moment, '' for the present. */
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
    /** Go one mark on or back, among all marks or those of cycles. */
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
