// The address of the page says what is looked at, so that a reload stays there and a link opens there.

const KEPT = { at: '', pod: '', node: '', plugin: '', cycle: 0, page: 1, group: '', shape: '', reasons: '', replica: '' };

/** Write what is looked at into the address, or, given the moment that is now, only return it as a query. */
export function address(view, withTab, now) {
  const given = Object.entries(KEPT).filter(([name, usual]) => view[name] !== usual).map(([name]) => [name, view[name]]);
  const query = new URLSearchParams(given);
  if (withTab && view.tab) query.set('tab', view.tab);
  if (now !== undefined) {
    if (!view.at) query.set('at', now);
    return query.toString();
  }
  const text = query.toString();
  history.replaceState(null, '', text ? `?${text}` : location.pathname);
  return text;
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
    target.textContent = 'Copied';
    setTimeout(() => { target.textContent = 'Copy'; }, 1500);
  });
}
