// The dialog that finds pods, nodes, plugins, events, terms and scenarios by a few letters. The server looks for them.

import { cellOf, focusCell } from './matrix.js';

const byId = (id) => document.getElementById(id);
const finder = byId('dialog-find');
const text = byId('find-text');
const list = byId('find-list');
let lead = null; // what is to be done with the one that is chosen
let listed = null; // the letters whose hits are in the list; null: of another time
let entered = false; // Enter was pressed before the hits of what is typed were there
let from = document.body; // what had the focus before
let cell = null; // the cell of a table in which that was

/** `then` gets the data of what a person chooses. */
export function find(then) {
  lead = then;
  text.value = '';
  listed = null;
  entered = false;
  from = document.activeElement;
  cell = cellOf(from);
  finder.showModal();
  text.focus();
  window.htmx.trigger(text, 'find-opened');
}

// The focus leaves at once what is no longer to be seen: a key pressed in this very moment is the page's.
function close() {
  finder.close();
  if (finder.contains(document.activeElement)) document.activeElement.blur();
}

// The browser gives the focus back, but not to what an update has made anew or what stands in a menu that is closed.
finder.addEventListener('close', () => {
  const now = document.activeElement;
  if (now !== document.body) return;
  const again = from.isConnected ? from : byId(from.id);
  if (again?.checkVisibility()) again.focus();
  else if (cell) focusCell(cell);
  else from.closest('details')?.querySelector('summary').focus();
});

/** Bring what was found into view, wherever it is drawn. */
export function show({ pod, node }) {
  const id = node ? `n:${node}` : `p:${pod}`;
  const found = byId(id) ?? (pod && byId(`q:${pod}`));
  found?.scrollIntoView({ block: 'center', inline: 'center' });
}

list.addEventListener('click', ({ target }) => {
  const button = target.closest('button');
  if (!button) return;
  close();
  lead({ ...button.dataset });
});

function items() {
  return [...list.querySelectorAll('button, a')];
}

function takeFirst() {
  if (!entered || listed !== text.value) return;
  entered = false;
  items()[0]?.click();
}

finder.querySelector('form').addEventListener('submit', (event) => {
  event.preventDefault();
  entered = true;
  takeFirst();
});

text.addEventListener('input', () => { entered = false; });
// The hits of the last letters may come when a person is in the list already: the focus stays on the same hit.
let inFocus = null;
list.addEventListener('htmx:beforeSwap', () => {
  inFocus = list.contains(document.activeElement) ? document.activeElement.textContent : null;
});
list.addEventListener('htmx:afterSwap', ({ detail }) => {
  listed = detail.requestConfig.parameters.q;
  if (inFocus !== null) (items().find((item) => item.textContent === inFocus) ?? items()[0] ?? text).focus();
  takeFirst();
});

const KEYS = {
  ArrowDown: () => items()[0]?.focus(),
  Escape: close, // by itself it would only empty the field
};
text.addEventListener('keydown', (event) => {
  if (!KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
list.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const hits = items();
  (hits[hits.indexOf(document.activeElement) + step] ?? text).focus();
});
