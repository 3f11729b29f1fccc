// What is under the pointer, or has the focus, stays in its place when an update changes its surroundings: its list scrolls
// along. If it cannot, room is added until the pointer has gone.

import { sameThing, whoseOf } from './whose.js';

export const CONTROLS = 'a[href], button, input, select, textarea, summary, [role="slider"], [data-pod], [data-node]';
const fine = matchMedia('(hover: hover)');
const held = new Set(); // boxes with added room
let at = null; // the place of the pointer

/** Return the element under the pointer, null if there is no pointer, as after a touch. */
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

// If a row is removed, the next row moves under the pointer. A second click at once must not remove that one, too.
const TAKES_AWAY = ':is([hx-post="delete/"], [hx-post="take-back/"], .untaint)';
const HASTE_MS = 600;
const NEAR = 8;
let before = null; // the last click: { thing, x, y, time }

const thing = (element) => `${element?.id} ${whoseOf(element)}`;
const note = (element, { x, y }) => { before = { thing: thing(element), x, y, time: performance.now() }; };

document.addEventListener('click', (event) => {
  const { target, clientX: x, clientY: y } = event;
  if (!event.detail) return; // a key pressed it
  const control = target.closest?.(CONTROLS);
  const same = before && performance.now() - before.time < HASTE_MS && Math.hypot(x - before.x, y - before.y) < NEAR;
  if (same && before.thing !== thing(control) && control?.matches(TAKES_AWAY)) {
    event.preventDefault();
    event.stopImmediatePropagation();
  } else note(control, { x, y });
}, true);

/** Return true if the pointer or the focus is in a box. */
export const aimedAt = (box) => (fine.matches && box.matches(':hover')) || (box.contains(document.activeElement) && document.activeElement.matches(':focus-visible'));

/** Return what is aimed at, with its place. Call this before an update. */
export function aims() {
  const under = underPointer()?.closest(CONTROLS);
  const aimed = [under, document.activeElement?.closest(`:is(${CONTROLS}):focus-visible`)].filter((element) => element?.matches('#app *'));
  return aimed.map((element) => ({ element, box: element.getBoundingClientRect(), pointer: element === under }));
}

/** After the update: put it back in its place. The pointer comes before the focus. */
export function steady(known) {
  const done = [];
  const [under] = known;
  if (under?.pointer && thing(under.element) !== thing(underPointer()?.closest(CONTROLS))) note(under.element, at);
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

/** Scroll, and add room above or below if that is not enough. */
function roll(element, box, around) {
  around.scrollTop += offset(element, box)[1];
  const [, rest] = offset(element, box);
  if (!far(rest)) return;
  const side = rest < 0 ? 'paddingTop' : 'paddingBottom';
  around.style[side] = `${pixels(getComputedStyle(around)[side]) + Math.abs(rest)}px`;
  around.scrollTop += Math.max(0, rest);
}
