// What is under the pointer, or has the focus, stays where it is when an update changes what stands around it: the list
// scrolls along, and where it cannot, room is added until the pointer has gone.

import { sameThing, whoseOf } from './whose.js';

export const CONTROLS = 'a[href], button, input, select, textarea, summary, [role="slider"], [data-pod], [data-node]';
const fine = matchMedia('(hover: hover)');
const held = new Set(); // boxes with room added
let at = null; // where the pointer is

/** What the pointer is on; null: it is nowhere, as after a touch. */
export const underPointer = () => at && document.elementFromPoint(at.x, at.y);

document.addEventListener('pointermove', ({ clientX, clientY, target, pointerType }) => {
  at = pointerType === 'touch' ? null : { x: clientX, y: clientY };
  for (const box of held) if (!box.contains(target) && !box.contains(document.activeElement)) free(box);
}, { passive: true });
document.documentElement.addEventListener('pointerleave', () => { at = null; });

function free(box) {
  held.delete(box);
  box.style.paddingTop = '';
  box.style.paddingBottom = '';
  box.style.translate = '';
}

// A list from which something goes moves up: what stands there then is not what a second click, or one under way, was for.
const TAKES_AWAY = ':is([hx-post="delete/"], [hx-post="take-back/"], .untaint)';
const HASTE_MS = 600;
const NEAR = 8;
let before = null; // what was there: { thing, x, y, time }

const thing = (element) => `${element?.id} ${whoseOf(element)}`;
const there = (element, { x, y }) => { before = { thing: thing(element), x, y, time: performance.now() }; };

document.addEventListener('click', (event) => {
  const { target, clientX: x, clientY: y } = event;
  if (!event.detail) return; // by a key
  const control = target.closest?.(CONTROLS);
  const same = before && performance.now() - before.time < HASTE_MS && Math.hypot(x - before.x, y - before.y) < NEAR;
  if (same && before.thing !== thing(control) && control?.matches(TAKES_AWAY)) {
    event.preventDefault();
    event.stopImmediatePropagation();
  } else there(control, { x, y });
}, true);

/** Whether somebody aims at something in a box. */
export const aimedAt = (box) => (fine.matches && box.matches(':hover')) || (box.contains(document.activeElement) && document.activeElement.matches(':focus-visible'));

/** Where what is aimed at is. To be asked before an update. */
export function aims() {
  const under = underPointer()?.closest(CONTROLS);
  const found = [under, document.activeElement?.closest(`:is(${CONTROLS}):focus-visible`)].filter((element) => element?.matches('#app *'));
  return found.map((element) => ({ element, box: element.getBoundingClientRect(), pointer: element === under }));
}

/** After the update: put it back there. The pointer comes before the focus. */
export function steady(known) {
  const done = [];
  const [under] = known;
  if (under?.pointer && thing(under.element) !== thing(underPointer()?.closest(CONTROLS))) there(under.element, at);
  for (const { element, box } of known) {
    const now = element.isConnected ? element : sameThing(element.id, whoseOf(element));
    const around = now?.closest('.scroll') ?? now?.closest('.panel');
    if (!around || done.includes(around)) continue;
    done.push(around);
    hold(now, box, around);
  }
}

const offset = (element, { left, top }) => {
  const now = element.getBoundingClientRect();
  return now.width ? [now.left - left, now.top - top] : [0, 0];
};
const far = (distance) => Math.abs(distance) >= 1;
const pixels = (text) => Number.parseFloat(text) || 0;

function hold(element, box, around) {
  const moved = offset(element, box);
  if (!moved.some(far)) return;
  held.add(around);
  if (around.matches('.scroll') && far(moved[1])) roll(element, box, around);
  const [x, y] = offset(element, box);
  if (!far(x) && !far(y)) return;
  const [before, beneath] = (around.style.translate || '0 0').split(' ').map(pixels);
  around.style.translate = `${before - x}px ${(beneath || 0) - y}px`;
}

/** By scrolling, and by room above or below. */
function roll(element, box, around) {
  around.scrollTop += offset(element, box)[1];
  const [, rest] = offset(element, box);
  if (!far(rest)) return;
  const side = rest < 0 ? 'paddingTop' : 'paddingBottom';
  around.style[side] = `${pixels(getComputedStyle(around)[side]) + Math.abs(rest)}px`;
  around.scrollTop += Math.max(0, rest);
}
