// The dialog that finds pods, nodes, plugins, events, terms and scenarios by a few letters. The server searches.

import { cellOf, focusCell } from './matrix.js';

const byId = (id) => document.getElementById(id);
const finder = byId('dialog-find');
const text = byId('find-text');
const list = byId('find-list');
let lead = null; // called with the chosen hit
let listed = null; // the letters whose hits are listed, null if the list is old
let entered = false; // Enter was pressed before the hits arrived
let from = document.body; // what had the focus before
let cell = null; // the cell of a table around it

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

// The focus leaves the closed dialog at once, so that the next key is the page's.
function close() {
  finder.close();
  if (finder.contains(document.activeElement)) document.activeElement.blur();
}

// The browser restores the focus, but not to what an update has replaced, nor into a closed menu.
finder.addEventListener('close', () => {
  const now = document.activeElement;
  if (now !== document.body) return;
  const again = from.isConnected ? from : byId(from.id);
  if (again?.checkVisibility()) again.focus();
  else if (cell) focusCell(cell);
  else from.closest('details')?.querySelector('summary').focus();
});

export function show({ pod, node }) {
  const id = node ? `n:${node}` : `p:${pod}`;
  const element = byId(id) ?? (pod && byId(`q:${pod}`));
  element?.scrollIntoView({ block: 'center', inline: 'center' });
}

list.addEventListener('click', ({ target }) => {
  const button = target.closest('button');
  if (!button) return;
  close();
  lead({ ...button.dataset });
});

const items = () => [...list.querySelectorAll('button, a')];

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
// If hits arrive while the focus is in the list, it stays on the same hit.
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
  Escape: close, // the browser would only empty the field
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
