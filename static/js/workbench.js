// The workbench in the browser: it says what is open and chosen, puts the answers in place, and knows the keys.
// It computes nothing about scheduling.

import './in-room.js';
import './name.js';
import './play.js';
import './split.js';
import { drawer } from './add.js';
import { dialog } from './dialog.js';
import { expectThis, settleRed } from './expect.js';
import { exports } from './export.js';
import { find, show } from './find.js';
import { fold, settleFolds, unfold } from './fold.js';
import { whenFree } from './hold.js';
import { quietly, remember, restore, travel } from './keep.js';
import { markNodes, settleMap } from './heat.js';
import { settleLesson, teach } from './lesson.js';
import { keepLine } from './line.js';
import { link, mark } from './links.js';
import { put, settleTurn, turn } from './lists.js';
import { fragment, placeOf, refusal, say, toast, withWayBack } from './no-answer.js';
import { noticesInSight } from './notices.js';
import { patch } from './patch.js';
import { address, copies, linkTo, lookingAt } from './share.js';
import { cellOf, cells } from './matrix.js';
import { scrub, settleKnob } from './scrub.js';
import { letGo, staying, waits, watchStays } from './stay.js';
import { aimedAt } from './steady.js';

const htmx = window.htmx;
const app = document.getElementById('app');
const bench = document.getElementById('bench');
const byId = (id) => document.getElementById(id);

const ALWAYS = 'toolbar ribbon sentence queues bindings faults cluster inspector timeline status lesson';
const tabs = new Map([...document.querySelectorAll('.tab')].map((button) => [button.dataset.tab, button]));
const view = { ...JSON.parse(app.dataset.view), tab: app.dataset.viewTab };
let pins = '';
let chosen = Boolean(view.tab); // a person chose the tab: it stays until they let it follow the stage again
let lentIn = null; // the attempt in which a lesson, or a look at another attempt, opened the tab: until it ends, it stays
let last = ''; // the stage that was shown last

// --- the connection ---------------------------------------------------------------------------------------------------

let told = ''; // what the server knows of this page

/** Tell the server what is looked at, if that is news. As long as nobody chose a tab, it sends the one of the stage. */
function send() {
  const follow = follows();
  const open = follow ? ALWAYS : `${ALWAYS} ${view.tab}`;
  const now = JSON.stringify({ ...view, open, follow, tab: follow ? '' : view.tab, stays: staying() });
  if (now === told) return;
  told = now;
  line.send(now);
}

const line = keepLine(htmx, () => { told = ''; send(); });

document.body.addEventListener('htmx:wsBeforeMessage', (event) => {
  event.preventDefault();
  clearTimeout(expected);
  const { message } = event.detail;
  if (message.startsWith('{')) {
    runs(JSON.parse(message).progress);
    return;
  }
  if (!waiting.size) ended();
  whenFree(() => update(event.detail));
});

function update(detail) {
  const kept = remember();
  quietly(() => place(detail.message));
  const news = settle();
  restore(kept, Number(/^<!--(\d+)-->/.exec(detail.message)?.[1] ?? 0));
  settleTurn();
  if (news) lookAtNow();
  settleKnob(view.at);
  travel(kept);
  send();
  htmx.trigger(app, 'htmx:wsAfterMessage', detail);
}

const process = (element) => htmx.process(element);

/** Put panels in place. htmx would replace each as a whole, and announce every element that leaves. */
function place(html) {
  const made = document.createElement('template');
  made.innerHTML = html;
  for (const panel of [...made.content.children]) if (!waits(panel)) patch(panel, process);
}

// A refusal is shown where the person looks: in the form that asked, else as a notice. The fields' own errors stay in their
// form; of one that was closed meanwhile a notice says the first.
document.body.addEventListener('htmx:beforeSwap', ({ detail }) => {
  const { xhr, requestConfig: { elt } } = detail;
  if (xhr.status < 400) return;
  if (xhr.status !== 422 || xhr.responseText.includes('data-notice')) {
    const made = document.createElement('div');
    made.append(withWayBack(refusal(xhr), elt));
    const target = placeOf(elt.closest('form'));
    Object.assign(detail, { target, swapOverride: 'innerHTML', shouldSwap: true, isError: true, serverResponse: made.innerHTML });
  } else if (elt.matches('dialog :is(form, button)') && !elt.checkVisibility()) {
    say(elt, toast(firstError(fragment(xhr.responseText))));
  }
});

/** The words of the first error of a form that came back. */
function firstError(made) {
  const errors = ['.cell-e, .fld-e .err', '.err-go, li', '.err'].map((selector) => made.querySelector(selector)).filter(Boolean);
  return errors[0]?.textContent.replace(/\s+/g, ' ').trim();
}
// Whoever does something wants to see what comes of it. What is read is read of the moment in view.
document.body.addEventListener('htmx:configRequest', ({ detail }) => {
  if (view.at && (detail.verb === 'get' || detail.elt.id === 'fork' || 'here' in detail.elt.dataset)) detail.parameters.at = view.at;
});
document.body.addEventListener('htmx:afterRequest', (event) => {
  const { xhr, requestConfig: { verb } } = event.detail;
  if (event.target.matches?.('#branch-list button') && xhr.status < 400) byId('dialog-branches').close();
  if ((view.cycle || view.at) && verb === 'post' && xhr.status < 400 && !('here' in event.detail.elt.dataset) && event.detail.elt.id !== 'play') look('');
});
// Play leads to the present when it begins. Who looks back while it goes on stays there.
byId('play')?.addEventListener('click', ({ currentTarget }) => { if ((view.cycle || view.at) && currentTarget.matches('[aria-pressed="true"]')) look(''); });
// What is only said, because nothing is wrong, goes by itself, but not from under the hand.
const CALM_MS = 5000;
document.body.addEventListener('htmx:afterSwap', calmDown);
function calmDown() {
  const calm = document.querySelector('#notice .toast.is-calm:not([data-going])');
  if (!calm) return;
  calm.dataset.going = '';
  const go = () => { if (calm.matches(':hover, :focus-within')) setTimeout(go, CALM_MS); else calm.remove(); };
  setTimeout(go, CALM_MS);
}
// After a step there is always something to show. When nothing comes, the line has died without a word.
const STALLED_MS = 4000;
let expected = 0;
document.body.addEventListener('htmx:afterRequest', ({ detail: { xhr, requestConfig } }) => {
  if (requestConfig.verb !== 'post' || !/^do\/(?!stop)/.test(requestConfig.path) || !(xhr.status >= 200 && xhr.status < 300)) return;
  clearTimeout(expected);
  expected = setTimeout(() => { byId('lost').hidden = false; line.reconnect(); }, STALLED_MS);
});
document.body.addEventListener('htmx:beforeRequest', (event) => {
  if (event.target.getAttribute('aria-disabled') === 'true') event.preventDefault();
  else if (event.target.closest('.steps, .step') && event.target.id !== 'play') byId('notice').replaceChildren();
});


// Whoever waits for long is told so, and may stop it.
const LONG_MS = 1000;
const waiting = new Map();
document.body.addEventListener('htmx:beforeSend', ({ detail }) => {
  if (detail.requestConfig.verb !== 'post' || detail.elt.id === 'stop') return;
  waiting.set(detail.xhr, setTimeout(() => { byId('running').hidden = false; }, LONG_MS));
});
document.body.addEventListener('htmx:afterRequest', ({ detail }) => {
  clearTimeout(waiting.get(detail.xhr));
  if (waiting.delete(detail.xhr) && !waiting.size) ended();
});

// How far it has come is told to all who look on. Those who did not click hear of its end by hearing no more of it.
const SILENT_MS = 5000;
let silence = 0;

function runs(text) {
  clearTimeout(silence);
  byId('running-now').textContent = text;
  byId('running').hidden = false;
  silence = setTimeout(() => { if (!waiting.size) ended(); }, SILENT_MS);
}

function ended() {
  clearTimeout(silence);
  byId('running').hidden = true;
  byId('running-now').textContent = '';
}

// --- after every update -------------------------------------------------------------------------------------------------

/** Bring what is not in the panels up to date; whether there is a new sentence. Asks nothing about the layout. */
function settle() {
  const sentence = byId('panel-sentence');
  const now = sentence.dataset;
  const news = now.key !== last;
  if (news) {
    if (last) byId('live').textContent = byId('sentence-text').textContent.trim();
    last = now.key;
    if (lentIn !== now.cycle) lentIn = null;
    send();
  }
  if (follows() && now.tab !== view.tab) openTab(now.tab);
  const { asked, now: past } = byId('panel-timeline').dataset;
  if (view.at && asked === view.at && !past) { // It is the present: somebody went back to here, or behind it.
    choose({ at: '', cycle: 0 });
    if (!waiting.size) sayCalmly('Somebody else went back past the moment you were looking at. You now see the present.');
  }
  const clock = byId('panel-toolbar').dataset;
  disable('do-back', Number(clock.head) <= 0);
  disable('do-forward', Number(clock.head) >= Number(clock.length));
  bench.classList.toggle('has-choice', hasChoice());
  settleRed();
  settleLesson({ choose, open: lend });
  settleFolds();
  settleMap();
  markAll();
  return news;
}

function sayCalmly(words) {
  const said = toast(words);
  said.firstElementChild.classList.add('is-calm');
  said.querySelector('.toast > .i').remove();
  byId('notice').replaceChildren(said);
  calmDown();
}

function markAll() {
  mark(view, pins);
  markNodes(view.node, pins);
}

/** Scroll to what is now. */
function lookAtNow() {
  if (!aimedAt(byId('panel-ribbon'))) centre();
  if (!aimedAt(rail)) centreTab();
}

function centreTab() {
  const tab = byId(`tab-${view.tab}`);
  rail.scrollLeft = tab.offsetLeft - (rail.clientWidth - tab.offsetWidth) / 2;
}

/** Whether the inspector has something to come out for; who opens a cell wants to read what is under it. */
function hasChoice() {
  return Boolean(view.node ? !view.plugin : view.pod);
}

function disable(id, off) {
  byId(id)?.setAttribute('aria-disabled', String(off));
}

function centre() {
  const ribbon = byId('panel-ribbon');
  const stage = ribbon.querySelector('.is-now');
  if (stage) ribbon.scrollLeft = stage.offsetLeft - ribbon.clientWidth / 2 + stage.offsetWidth / 2;
}

// --- what is open and chosen ----------------------------------------------------------------------------------------------

/** Whether this is a tab of the cluster: whoever opens one goes on looking at it. */
function stays(tab) {
  return 'stays' in (tabs.get(tab)?.dataset ?? {});
}

const rail = document.querySelector('.tabs-all');

/** Whether the tab follows the stage: nobody chose one, and nobody is about to. */
function follows() {
  return !chosen && lentIn === null && !stays(view.tab) && !aimedAt(rail);
}

function openTab(tab) {
  view.tab = tab;
  bench.dataset.tab = tab;
  for (const shown of document.querySelectorAll('[data-only]')) shown.hidden = shown.dataset.only !== tab;
  for (const [name, button] of tabs) {
    const on = name === tab;
    button.setAttribute('aria-selected', String(on));
    button.tabIndex = on ? 0 : -1;
    if (on) openGroup(button.closest('.tabs-g'));
  }
  byId('follow').setAttribute('aria-pressed', String(!chosen));
  address(view, chosen || lentIn !== null || stays(tab));
  send();
}

/** Where there is no room for all tabs, one group shows its own. */
function openGroup(group) {
  group.dataset.last = view.tab;
  for (const other of document.querySelectorAll('.tabs-g')) other.classList.toggle('is-open', other === group);
}

function personOpens(tab) {
  chosen = true;
  showTab(tab);
}

/** Open a tab for a while. */
function lend(tab) {
  lentIn = byId('panel-sentence').dataset.cycle;
  showTab(tab);
}

/** Let the tab follow the stage, from now on. */
function follow() {
  chosen = false;
  lentIn = null;
  showTab(byId('panel-sentence').dataset.tab || view.tab);
}

function showTab(tab) {
  unfold('decision');
  openTab(tab);
  centreTab();
}

function choose(changes) {
  if ('pod' in changes || 'node' in changes) letGo();
  Object.assign(view, changes);
  address(view, chosen || lentIn !== null || stays(view.tab));
  bench.classList.toggle('has-choice', hasChoice());
  markAll();
  send();
}

/** Show another moment, '' for the present. */
function look(moment) {
  const at = moment === byId('panel-timeline').dataset.present ? '' : moment;
  if (at !== view.at || view.cycle) choose({ at, cycle: 0 });
}

function showPane(name) {
  bench.dataset.panel = name;
  for (const button of document.querySelectorAll('.dock [data-panel]')) {
    button.setAttribute('aria-current', String(button.dataset.panel === name));
  }
}

const small = matchMedia('(max-width: 760px)');

/** Row of the table: what was clicked → what it does. The first that fits. */
const CLICKS = [
  ['[role="tab"]', (el) => personOpens(el.dataset.tab)],
  ['[data-tabs]', (el) => personOpens(el.parentElement.dataset.last ?? el.parentElement.querySelector('.tab').dataset.tab)],
  ['.st button', chooseStage],
  ['[data-goto-tab]', (el) => goTo(el.dataset.gotoTab)],
  ['.dock [data-panel]', (el) => showPane(el.dataset.panel)],
  ['[data-layout]', (el) => choose({ layout: el.dataset.layout })],
  ['[data-colour]', (el) => choose({ colour: el.dataset.colour })],
  ['[data-group]', (el) => choose({ group: el.dataset.group })],
  ['[data-reasons]', (el) => choose({ reasons: el.dataset.reasons })],
  ['button[data-replica]', (el) => choose({ replica: view.replica === el.dataset.replica ? '' : el.dataset.replica })],
  ['[data-fold]', fold],
  ['[data-page]', (el) => { turn(el.dataset.list); choose({ pages: put(view.pages, el.dataset.list, Number(el.dataset.page)) }); }],
  ['[data-order]', (el) => choose({ orders: put(view.orders, el.dataset.list, el.dataset.order), pages: put(view.pages, el.dataset.list, 0) })],
  ['[data-nodes]', (el) => { pins = pins === el.dataset.nodes ? '' : el.dataset.nodes; markAll(); }],
  ['i[data-at]', (el) => look(el.dataset.at)],
  ['button[data-cycle]', chooseCycle],
  ['button[data-at]', (el) => look(el.dataset.at)],
  ['button[data-why]', (el) => chooseCell(el, el.dataset.node, el.dataset.why)],
  ['.cand[data-node]', (el) => choose({ node: el.dataset.node, pod: '' })],
  ['button[data-pod], button[data-node]', (el) => chooseThing(el)],
  ['.pod[data-pod]', (el) => chooseThing(el)],
  ['.mx.cells td', (el) => { const { node, plugin } = cellOf(el) ?? {}; if (plugin) chooseCell(el, node, plugin); }],
  ['article[data-node]', (el) => chooseThing(el)],
];

/** Open a tab from wherever one is: on a phone its pane, too. */
function goTo(tab) {
  personOpens(tab);
  if (small.matches) showPane('decision');
}

function chooseCycle(el) {
  const again = view.at === el.dataset.at || el.dataset.at === byId('panel-timeline').dataset.present;
  lentIn = again ? null : el.dataset.cycle; // whoever goes through the cycles compares what is open
  choose({ at: again ? '' : el.dataset.at, cycle: again ? 0 : Number(el.dataset.cycle), ...(el.dataset.pod ? { pod: el.dataset.pod, node: '' } : {}) });
}

/** Open the tab of a stage; in the past go to the moment of the stage, too. */
function chooseStage(el) {
  const { to, gotoTab } = el.dataset;
  if (el.matches('[aria-current]')) { follow(); if (small.matches) showPane('decision'); return; }
  goTo(gotoTab);
  if (to) choose({ at: to === byId('panel-timeline').dataset.present ? '' : to, cycle: Number(byId('panel-ribbon').dataset.cycle) });
}

function chooseCell(el, node, plugin) {
  const same = view.node === node && view.plugin === plugin;
  if (el.closest('.p-inspector')) personOpens(el.dataset.in ?? 'filter');
  choose({ node: same ? '' : node, plugin: same ? '' : plugin });
}

function chooseThing(el, { pod, node } = el.dataset) {
  choose(pod ? { pod, node: '', plugin: '' } : { node, pod: '', plugin: view.node === node ? view.plugin : '' });
  if (small.matches && el.closest('.p-queue, .p-cluster')) showPane('inspector');
}

/** A tool in the menu of those that have no room presses its twin in the bar. */
function press(button) {
  byId(button.dataset.press).click();
  if (button.closest('.more-b').matches(':last-of-type')) button.closest('details').open = false;
}

const DO = {
  dismiss: (el) => el.closest('.toast').remove(),
  help: () => byId('dialog-help').showModal(),
  term: (el) => { byId('dialog-help').close(); goTo(el.dataset.tab); },
  follow: () => look(''),
  'follow-stage': () => { if (chosen) follow(); else personOpens(view.tab); },
  expectations: () => goTo('expectations'),
  present: () => choose({ cycle: 0, at: '', pod: '', plugin: '' }),
  branches: () => {
    byId('branch-list').replaceChildren(); // Those that were there last time may be gone.
    byId('dialog-branches').showModal();
    htmx.trigger('#branch-list', 'branches-opened');
  },
  unselect: () => choose({ pod: '', node: '', plugin: '' }),
  add: (el) => adding?.open(el.dataset),
  'back-to': (el) => { el.closest('.toast').remove(); backTo(el.dataset); },
  edit: (el) => adding?.openObject(el.dataset.kind, el.dataset.key),
};

/** Open a drawer or a dialog as it was left. */
function backTo({ box, form }) {
  if (box === 'drawer') adding.again(form.replace('form-', ''));
  else if (box === 'configuration-drawer') document.dispatchEvent(new CustomEvent('configure'));
  else if (!byId(box).open) byId(box).showModal();
}

document.addEventListener('click', (event) => {
  const target = event.target;
  const action = target.closest('[data-do]');
  if (action && DO[action.dataset.do]) return DO[action.dataset.do](action);
  const twin = target.closest('[data-press]');
  if (twin) return press(twin);
  if (event.isTrusted) for (const open of document.querySelectorAll('details.about[open]')) if (!open.contains(target)) open.open = false;
  if (!app.contains(target)) return;
  for (const [selector, act] of CLICKS) {
    const el = target.closest(selector);
    if (el) return act(el);
  }
});

// Tables are saved of what is looked at, however the link is opened.
for (const kind of ['pointerdown', 'focusin', 'click']) {
  document.addEventListener(kind, ({ target }) => {
    const link = target.closest?.('a[data-csv]');
    if (link) lookingAt(link, view);
  }, { capture: true });
}

for (const select of document.querySelectorAll('[data-twin]')) {
  select.addEventListener('change', () => { byId(select.dataset.twin).value = select.value; });
}

// --- keys -----------------------------------------------------------------------------------------------------------------

let swallow = false;
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target;
  if (event.key === 'Escape') return escape(target);
  if (target.closest('input, textarea, select, dialog[open], [contenteditable], .ace_editor')) return;
  if (target.matches('[role="tab"]') && arrows(event, target)) return;
  if (!target.closest('[role="tab"], [role="separator"], table') && travels(event)) return;
  if (event.key === 'x') return expectThis();
  if (event.key === ' ' && target !== document.body && target.matches(':focus-visible')) return;
  const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!button) return;
  event.preventDefault();
  swallow = event.key === ' ';
  button.click();
});
document.addEventListener('keyup', (event) => {
  if (event.key === ' ' && swallow) event.preventDefault();
  swallow = false;
});

/** The keys of the timeline. */
function travels(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) time.go(step, event.shiftKey);
  else if (event.key === 'Home') time.first();
  else if (event.key === 'End') look('');
  else return false;
  event.preventDefault();
  return true;
}

function escape(target) {
  if (target.closest('dialog[open]')) return;
  for (const open of document.querySelectorAll('details.about[open], details.precise[open]')) open.open = false;
  pins = '';
  choose({ pod: '', node: '', plugin: '' });
}

function arrows(event, tab) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return false;
  const tabs = [...document.querySelectorAll('.tab')];
  const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
  personOpens(next.dataset.tab);
  next.focus();
  return true;
}

// --- find, share ------------------------------------------------------------------------------------------------------------

/** An object that stands in no panel, for those who only watch. */
function read(kind, key) {
  byId('object-h').textContent = `${kind} ${key}`;
  byId('object-yaml').replaceChildren();
  byId('dialog-object').showModal();
  htmx.ajax('GET', `yaml/${encodeURIComponent(kind)}/?key=${encodeURIComponent(key)}`, { target: '#object-yaml', swap: 'innerHTML' });
}

byId('find').addEventListener('click', () => find(({ tab, help, edit, read: only, key, ...leads }) => {
  if (edit) return adding.openObject(edit, key);
  if (only) return read(only, key);
  if (help !== undefined) return DO.help();
  if ('pod' in leads || 'node' in leads) choose({ pod: '', node: '', plugin: '', ...leads });
  if (tab) goTo(tab);
  else if (small.matches) showPane(leads.node ? 'cluster' : 'inspector');
  show(leads);
}));
byId('share').addEventListener('click', () => {
  byId('share-moment').value = linkTo(byId('share-view').value, view, byId('panel-timeline').dataset.present);
  byId('dialog-share').showModal();
});
copies(byId('dialog-share'));
exports(() => Boolean(view.at));
byId('help').addEventListener('click', DO.help);
byId('dialog-share').addEventListener('focusin', ({ target }) => { if (target.readOnly) target.select(); });

// --- start ----------------------------------------------------------------------------------------------------------------------

const time = scrub(look);
const adding = byId('drawer') ? drawer(app, htmx) : null;
byId('add')?.addEventListener('click', () => adding.open());
dialog('dialog-break', 'break', 'fault-set');
dialog('dialog-replicas', 'replicas-set', 'replicas-set');
link(app);
watchStays(send, process);
noticesInSight();
rail.addEventListener('pointerleave', settle);
byId('panel-timeline').parentElement.addEventListener('pointerleave', () => settleKnob(view.at));
teach(view, { choose, goTo: (tab) => { lend(tab); if (small.matches) showPane('decision'); }, showPane, send });
cells(app);
document.addEventListener('look-changed', settle);
document.addEventListener('node-chosen', ({ detail: node }) => chooseThing(byId('heat-map'), { node }));
addEventListener('resize', () => settleKnob(view.at));
openTab(view.tab || byId('panel-sentence').dataset.tab || 'filter');
const pane = new URLSearchParams(location.search).get('panel');
if (document.querySelector(`.dock [data-panel="${CSS.escape(pane ?? '')}"]`)) showPane(pane);
settle();
lookAtNow();
settleKnob(view.at);
