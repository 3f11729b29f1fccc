// Without a choice, a panel shows what is in flight or worst, and so moves from one object to the next. While somebody
// works with its object (aims at its controls, is in a field, or has typed there), the panel stays, and so does the server.

import { edited } from './edits.js';
import { patch } from './patch.js';
import { CONTROLS, underPointer } from './steady.js';

const LOOSE = '[data-loose]'; // the part of a panel about an object that nobody chose
const FIELDS = 'input, textarea, select';
const stays = new Map(); // panel → key of the object that it keeps
const newer = new Map(); // panel → its newest version, about another object, which waits
const freed = new Map(); // panel → key of the object that a person left

const nameOf = (panel) => panel.id.replace('panel-', '');
const looseIn = (panel) => [...(panel?.querySelectorAll(LOOSE) ?? [])];

function worked(box, name) {
  const under = underPointer();
  if (box.contains(under) && (stays.has(name) || under.closest(CONTROLS))) return true;
  const active = document.activeElement;
  if (box.contains(active) && active.matches(`:is(${FIELDS}), :focus-visible`)) return true;
  return [...box.querySelectorAll(FIELDS)].some(edited);
}

/** Return true if a new panel must wait because somebody works with the object on the screen. */
export function waits(panel) {
  const boxes = looseIn(document.getElementById(panel.id));
  const [box] = boxes;
  const [next] = looseIn(panel);
  const name = nameOf(panel);
  newer.delete(name);
  if (!box || !next || box.dataset.loose === next.dataset.loose) return false;
  const key = box.dataset.loose;
  const known = next.dataset.asked === key; // The server was asked to stay: the object is gone.
  if (!key || known || freed.get(name) === key || !boxes.some((one) => worked(one, name))) {
    stays.delete(name);
    freed.delete(name);
    return false;
  }
  stays.set(name, key);
  newer.set(name, panel);
  return true;
}

/** Return the objects that panels keep, for the server. */
export const staying = () => [...stays].map((item) => item.join(':')).join(' ');

let born = null; // called with every element that is new on the page

function leave(name) {
  stays.delete(name);
  if (newer.has(name)) patch(newer.get(name), born);
  newer.delete(name);
}

/** A person chose what to show: no panel keeps its object. */
export function letGo() {
  for (const [name, key] of stays) {
    freed.set(name, key);
    leave(name);
  }
}

/** `send()` reports to the server what panels keep. `process` is called with every element that is new on the page. */
export function watchStays(send, process) {
  born = process;
  const settle = () => {
    const over = [...stays.keys()].filter((name) => !looseIn(document.getElementById(`panel-${name}`)).some((box) => worked(box, name)));
    over.forEach(leave);
    if (over.length) send();
  };
  const soon = () => { if (stays.size) setTimeout(settle); };
  for (const kind of ['pointermove', 'focusout', 'htmx:afterRequest']) document.addEventListener(kind, soon, { passive: true });
  document.documentElement.addEventListener('pointerleave', soon);
  for (const kind of ['input', 'pointerdown']) {
    document.addEventListener(kind, ({ target }) => { if (target.closest?.(LOOSE)) freed.delete(nameOf(target.closest('.panel'))); }, true);
  }
  document.body.addEventListener('htmx:wsAfterMessage', soon);
}
