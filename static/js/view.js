// What is open and chosen in this browser: moment, tab, pane, pod, node. Each change is sent to the server, written into the
// address and marked on the page.

import { bring, comes, isLimited, markAway } from './away.js';
import { send } from './connection.js';
import { unfold } from './fold.js';
import { markNodes } from './heat.js';
import { mark, pinned } from './links.js';
import { address } from './share.js';
import { letGo, staying } from './stay.js';
import { aimedAt } from './steady.js';
import { select } from './tabs.js';

const byId = (id) => document.getElementById(id);
const { view: choices, viewTab } = byId('app').dataset;
const bench = byId('bench');
const small = matchMedia('(max-width: 760px)');
const ALWAYS = 'toolbar ribbon sentence queues bindings faults cluster inspector timeline status lesson';

export const rail = document.querySelector('.tabs-all');
export const view = { ...JSON.parse(choices), tab: viewTab };

/**
 * Send what is in view. While the tab follows the stage, the server sends the panel of the stage. In a lesson that tab may
 * be away: then the open one stays, and needs its panel, too.
 */
export function sendView() {
  const follow = follows();
  send({ ...view, open: follow && !isLimited() ? ALWAYS : `${ALWAYS} ${view.tab}`, follow, tab: follow ? '' : view.tab, stays: staying() });
}

export function choose(changes) {
  if ('pod' in changes || 'node' in changes) letGo();
  if (changes.pod || changes.node) bring('inspector');
  Object.assign(view, changes);
  address(view, isHeld());
  markChoice();
  sendView();
}

/** Mark what is chosen. It opens the inspector, except for a cell, whose explanation is below it. */
export function markChoice() {
  bench.classList.toggle('has-choice', Boolean(view.node ? !view.plugin : view.pod));
  mark(view);
  markNodes(view.node, pinned());
}

let chosen = Boolean(viewTab); // a person chose the tab: it stays until they press Follow
let lentIn = null; // the attempt in which a lesson, or a look at another attempt, opened the tab; it stays until its end

const tabOf = (name) => byId(`tab-${name}`);

/** Return true if the tab stays when the stage changes. Some tabs of the cluster always do. */
const isHeld = () => chosen || lentIn !== null || Boolean(tabOf(view.tab)?.matches('[data-stays]'));

/** Return true if the tab follows the stage, which waits while somebody aims at the tabs. */
const follows = () => !isHeld() && !aimedAt(rail);

export function setTab(name) {
  view.tab = name;
  bench.dataset.tab = name;
  for (const part of document.querySelectorAll('[data-only]')) part.hidden = part.dataset.only !== name;
  select(document.querySelectorAll('.tab'), name);
  markAway();
  openGroup(tabOf(name)?.closest('.tabs-g'));
  byId('follow').setAttribute('aria-pressed', String(!chosen));
  address(view, isHeld());
  sendView();
}

/** Show the tabs of one group, if there is no room for all. */
function openGroup(group) {
  if (!group) return;
  group.dataset.last = view.tab;
  for (const other of document.querySelectorAll('.tabs-g')) other.classList.toggle('is-open', other === group);
}

function showTab(name) {
  unfold('decision');
  bring(name);
  setTab(name);
  centreTab();
}

export function centreTab() {
  const tab = tabOf(view.tab);
  rail.scrollLeft = tab.offsetLeft - (rail.clientWidth - tab.offsetWidth) / 2;
}

export function openTab(name) {
  chosen = true;
  showTab(name);
}

/** Open a tab until the attempt ends. */
export function lendTab(name) {
  lentIn = byId('panel-sentence').dataset.cycle;
  showTab(name);
}

/** Let the tab follow the stage, from now on. */
export function followStage() {
  chosen = false;
  lentIn = null;
  showTab(byId('panel-sentence').dataset.tab || view.tab);
  showOnPhone('decision');
}

export const toggleFollow = () => { if (chosen) followStage(); else openTab(view.tab); };

/** After an update: open the tab of the stage, if the tab follows. A tab lent in an earlier attempt follows again. */
export function settleTab({ cycle, tab }, begins) {
  if (begins && lentIn !== cycle) lentIn = null;
  if (begins) sendView();
  if (follows() && tab !== view.tab && comes(tab)) setTab(tab);
}

export function showPane(name) {
  bench.dataset.panel = name;
  for (const button of document.querySelectorAll('.dock [data-panel]')) {
    button.setAttribute('aria-current', String(button.dataset.panel === name));
  }
}

/** A phone shows one pane at a time. */
export const showOnPhone = (name) => { if (small.matches) showPane(name); };

/** Open a tab from anywhere. */
export function goTo(name) {
  openTab(name);
  showOnPhone('decision');
}

export const present = () => byId('panel-timeline').dataset.present;
/** Return true while a story shows one moment after another. */
export const isTold = () => byId('app').classList.contains('is-told');
const isElsewhere = () => Boolean(view.cycle || view.at);

/** Show another moment, '' for the present, and of several attempts at that time the one of `cycle`. */
export function look(moment, cycle = 0) {
  const at = moment === present() ? '' : moment;
  if (at !== view.at || cycle !== view.cycle) choose({ at, cycle });
}

/** Show an attempt at its end, or the present if it is in view. The tab stays, so that you can compare attempts. */
export function lookAtAttempt(at, cycle, changes) {
  const again = view.at === at || at === present();
  lentIn = again ? null : String(cycle);
  choose({ at: again ? '' : at, cycle: again ? 0 : cycle, ...changes });
}

// Requests are about the moment in view.
document.body.addEventListener('htmx:configRequest', ({ detail }) => {
  if (view.at && (detail.verb === 'get' || detail.elt.id === 'fork' || 'here' in detail.elt.dataset)) detail.parameters.at = view.at;
});
// A command returns to the present, where its result is. Play does so only at its start: you may look back meanwhile.
document.body.addEventListener('htmx:afterRequest', ({ detail: { elt, xhr, requestConfig: { verb } } }) => {
  if (isElsewhere() && verb === 'post' && xhr.status < 400 && !('here' in elt.dataset) && elt.id !== 'play' && !isTold()) look('');
});
document.addEventListener('click', ({ target }) => { if (isElsewhere() && target.closest('#play[aria-pressed="true"]')) look(''); });
