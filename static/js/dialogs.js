// The dialogs of the workbench: help, find, share, export, branches, an object as YAML.

import { copies } from './clipboard.js';
import { dialog } from './dialog.js';
import { exports } from './export.js';
import { find, show } from './find.js';
import { linkTo } from './share.js';
import { choose, goTo, present, showOnPhone, view } from './view.js';

const { htmx } = window;
const byId = (id) => document.getElementById(id);
const help = () => byId('dialog-help').showModal();
dialog('dialog-break', 'break', 'fault-set');
dialog('dialog-replicas', 'replicas-set', 'replicas-set');
exports(() => Boolean(view.at));
byId('help').addEventListener('click', help);
// Nothing is typed there: a click beside it closes it, too.
byId('dialog-help').addEventListener('click', ({ target, currentTarget, clientX, clientY }) => {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  const inside = clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  if (target === currentTarget && !inside) currentTarget.close();
});

export function showTerm(tab) {
  byId('dialog-help').close();
  goTo(tab);
}

/** `drawer`: the drawer for edits, null if this link cannot change anything. */
export function findWith(drawer) {
  byId('find').addEventListener('click', () => find(({ tab, help: term, edit, read: only, key, ...leads }) => {
    if (edit) return drawer.openObject(edit, key);
    if (only) return read(only, key);
    if (term !== undefined) return help();
    if ('pod' in leads || 'node' in leads) choose({ pod: '', node: '', plugin: '', ...leads });
    if (tab) goTo(tab);
    else showOnPhone(leads.node ? 'cluster' : 'inspector');
    show(leads);
  }));
}

/** Show an object that is in no panel to those who only watch. */
function read(kind, key) {
  byId('object-h').textContent = `${kind} ${key}`;
  byId('object-yaml').replaceChildren();
  byId('dialog-object').showModal();
  htmx.ajax('GET', `yaml/${encodeURIComponent(kind)}/?key=${encodeURIComponent(key)}`, { target: '#object-yaml', swap: 'innerHTML' });
}

const sharing = byId('dialog-share');
copies(sharing);
byId('share').addEventListener('click', () => {
  byId('share-moment').value = linkTo(byId('share-view').value, view, present());
  sharing.showModal();
});
sharing.addEventListener('focusin', ({ target }) => { if (target.readOnly) target.select(); });

export function showBranches() {
  byId('branch-list').replaceChildren(); // they may no longer exist
  byId('dialog-branches').showModal();
  htmx.trigger('#branch-list', 'branches-opened');
}

document.body.addEventListener('htmx:afterRequest', ({ target, detail: { xhr } }) => {
  if (target.matches?.('#branch-list button') && xhr.status < 400) byId('dialog-branches').close();
});
