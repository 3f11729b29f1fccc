// The address of the page says what is looked at, so that a reload stays there and a link opens there.

import './embed-snippet.js';
import './carry.js';
import { say } from './words.js';

const KEPT = { at: '', pod: '', node: '', plugin: '', cycle: 0, group: '', layout: '', colour: '', reasons: '', replica: '', pages: '', orders: '' };

/** What is looked at as a query; of the present no moment is named. */
function query(view, withTab) {
  const given = Object.entries(KEPT).filter(([name, usual]) => view[name] !== usual).map(([name]) => [name, view[name]]);
  if (withTab && view.tab) given.push(['tab', view.tab]);
  return new URLSearchParams(given);
}

const SOON_MS = 250; // browsers allow only so many changes of the address in half a minute, and a drag makes many
let due = 0;

/** Write what is looked at into the address, soon. */
export function address(view, withTab) {
  clearTimeout(due);
  due = setTimeout(() => {
    const wanted = query(view, withTab).toString();
    if (wanted !== location.search.slice(1)) history.replaceState(null, '', wanted ? `?${wanted}` : location.pathname);
  }, SOON_MS);
}

/** A link that opens at what is looked at; `now` is the moment of the present. */
export function linkTo(base, view, now) {
  const wanted = query(view, true);
  if (!view.at) wanted.set('at', now);
  return `${base}?${wanted}`;
}

/** Save tables of what is looked at, however their link is opened. */
export function tablesOf(view) {
  for (const kind of ['pointerdown', 'focusin', 'click']) {
    document.addEventListener(kind, ({ target }) => {
      const link = target.closest?.('a[data-csv]');
      if (link) link.search = query(view, false).toString();
    }, { capture: true });
  }
}

/** Buttons that copy the field that they name. */
export function copies(box) {
  box.addEventListener('click', async ({ target }) => {
    const field = document.getElementById(target.closest('[data-copy]')?.dataset.copy);
    if (!field) return;
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      document.execCommand('copy'); // without a secure connection there is no clipboard to write to
    }
    const usual = target.textContent;
    target.textContent = say('script.copied');
    setTimeout(() => { target.textContent = usual; }, 1500);
  });
}
