// Tabs, in the workbench and in an embed: opening one, and the arrow keys between them.

export function select(tabs, name) {
  for (const tab of tabs) {
    const on = tab.dataset.tab === name;
    tab.setAttribute('aria-selected', String(on));
    tab.tabIndex = on ? 0 : -1;
  }
}

/** Open the tab that an arrow key leads to, and focus it. Return false if the key is another one, or no tab has the focus. */
export function arrows({ key, target }, within, open) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step || !target.matches('[role="tab"]')) return false;
  const tabs = [...target.closest(within).querySelectorAll('[role="tab"]:not(.is-away)')];
  const next = tabs[(tabs.indexOf(target) + step + tabs.length) % tabs.length];
  open(next.dataset.tab);
  next.focus();
  return true;
}
