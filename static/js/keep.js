// An update replaces whole panels. This keeps what a person would miss: focus, scrolling, what was unfolded; and it lets
// cards come from where they were.

import { cellOf, focusCell } from './matrix.js';

const calm = matchMedia('(prefers-reduced-motion: reduce)');
const MOST = 120;
const CARDS = '[id^="q:"], [id^="p:"]';

function boxes() {
  const found = new Map();
  if (calm.matches) return found;
  for (const card of document.querySelectorAll(CARDS)) {
    if (found.size >= MOST) break;
    const box = card.getBoundingClientRect();
    if (box.width) found.set(card.id, box);
  }
  return found;
}

/** What a person has typed over, null when nothing. */
function typedInto(field) {
  const text = field?.matches?.('input:not([type]), input[type="text"], input[type="number"]');
  return text && field.value !== field.defaultValue ? field.value : null;
}

/** What to put back after the update. */
export function remember() {
  const active = document.activeElement;
  return {
    focus: active && active !== document.body ? active.id : '',
    cell: cellOf(active),
    typed: typedInto(active),
    scrolls: [...document.querySelectorAll('.scroll[id]')].map((box) => [box.id, box.scrollTop, box.scrollLeft]),
    unfolded: [...document.querySelectorAll('details[open] > summary[id]')].map((summary) => summary.id),
    code: document.querySelector('.insp-code:not(:empty)')?.innerHTML ?? '',
    who: document.querySelector('.insp-t h3')?.textContent ?? '',
    boxes: boxes(),
  };
}

/** First what changes the page, then what asks where things are: each change in between would cost another layout. */
export function restore(kept) {
  for (const id of kept.unfolded) {
    const details = document.getElementById(id)?.parentElement;
    if (details) details.open = true;
  }
  const code = document.querySelector('.insp-code:empty');
  if (code && kept.code && kept.who === document.querySelector('.insp-t h3')?.textContent) code.innerHTML = kept.code;
  for (const [id, top, left] of kept.scrolls) {
    const box = document.getElementById(id);
    if (box) { box.scrollTop = top; box.scrollLeft = left; }
  }
  if (kept.focus && document.activeElement?.id !== kept.focus) {
    const back = document.getElementById(kept.focus);
    back?.focus({ preventScroll: true });
    if (back && kept.typed !== null) back.value = kept.typed;
  }
  if (kept.cell && document.activeElement === document.body) focusCell(kept.cell);
}

/** Let cards come from where they were: the last thing, as it marks them after having asked where they are. */
export function travel({ boxes: before }) {
  if (calm.matches || !before.size) return;
  const moves = [];
  for (const card of document.querySelectorAll(CARDS)) {
    const key = card.id.slice(2);
    const from = before.get(card.id) ?? before.get(`q:${key}`) ?? before.get(`p:${key}`);
    if (!from) continue;
    const to = card.getBoundingClientRect();
    const x = from.left - to.left;
    const y = from.top - to.top;
    if (to.width && Math.abs(x) + Math.abs(y) > 3) moves.push([card, x, y]);
    if (moves.length > MOST) break;
  }
  for (const [card, x, y] of moves) {
    card.style.setProperty('--from-x', `${x}px`);
    card.style.setProperty('--from-y', `${y}px`);
    card.classList.add('came');
  }
}
