// The address of the page names what is in view, so that a reload and a link show the same.

import './embed-snippet.js';
import './carry.js';

const KEPT = { at: '', pod: '', node: '', plugin: '', cycle: 0, group: '', layout: '', colour: '', reasons: '', replica: '', pages: '', orders: '', finds: '' };

/** Return what is in view as a query; without a moment if that is the present. */
function query(view, withTab) {
  const fields = Object.entries(KEPT).filter(([name, usual]) => view[name] !== usual).map(([name]) => [name, view[name]]);
  if (withTab && view.tab) fields.push(['tab', view.tab]);
  return new URLSearchParams(fields);
}

const SOON_MS = 250; // browsers limit the changes of the address, and a drag makes many
let due = 0;

export function address(view, withTab) {
  clearTimeout(due);
  due = setTimeout(() => {
    const wanted = query(view, withTab).toString();
    if (wanted !== location.search.slice(1)) history.replaceState(null, '', wanted ? `?${wanted}` : location.pathname);
  }, SOON_MS);
}

/** Return a link to what is in view. `now`: the present moment. */
export function linkTo(base, view, now) {
  const wanted = query(view, true);
  if (!view.at) wanted.set('at', now);
  return `${base}?${wanted}`;
}

/** Let links to tables name what is in view, however they are opened. */
export function tablesOf(view) {
  for (const kind of ['pointerdown', 'focusin', 'click']) {
    document.addEventListener(kind, ({ target }) => {
      const link = target.closest?.('a[data-csv]');
      if (link) link.search = query(view, false).toString();
    }, { capture: true });
  }
}
