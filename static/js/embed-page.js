// A sandbox in somebody else's page: panels that the server draws, moments to move through, and messages to the page
// around it. What may be changed the link decides, on the server; this page asks.

import { connect } from './line.js';
import { link, mark, pin, pinned } from './links.js';
import { cellOf } from './matrix.js';
import { patch } from './patch.js';
import { put } from './lists.js';
import { listen, tell } from './embed-talk.js';

const byId = (id) => document.getElementById(id);
const app = byId('app');
const { base, panels, socket: line } = app.dataset;
const patience = Number(app.dataset.patience);
const acts = 'acts' in app.dataset;
const view = JSON.parse(byId('em-view').textContent);
let state = JSON.parse(byId('em-state').textContent);
let at = line && state.moment.present ? '' : state.moment.at; // '' follows the present
let chosenTab = app.dataset.tab ?? '';
let asking = 0;
const NO_ANSWER = 'The server does not answer, so this may be out of date. Reload the page in a minute.';

// --- what is shown ------------------------------------------------------------------------------------------------------

async function show() {
  asking += 1;
  const mine = asking;
  const query = new URLSearchParams(Object.entries({ ...view, panels, at }).filter(([, value]) => value));
  const answer = await fetch(`${base}embed/state/?${query}`, { credentials: 'omit', signal: AbortSignal.timeout(patience) }).catch(() => null);
  if (mine !== asking) return; // something newer has been asked for
  if (!answer?.ok) return say(answer ? await sentenceOf(answer) : NO_ANSWER);
  say('');
  place(await answer.json());
}

/** The words of a refusal, which comes as a fragment of a page. */
async function sentenceOf(answer) {
  const made = document.createElement('template');
  made.innerHTML = await answer.text();
  return made.content.textContent.replace(/\s+/g, ' ').trim().slice(0, 300) || `The server answered ${answer.status}.`;
}

function say(text) {
  byId('em-told').textContent = text;
}

function place(found) {
  const news = found.sentence !== state.sentence || found.moment.at !== state.moment.at;
  const { fragments, ...told } = found;
  state = told;
  for (const html of Object.values(fragments)) {
    const made = document.createElement('template');
    made.innerHTML = html;
    for (const panel of [...made.content.children]) patch(panel, () => {});
  }
  settle();
  if (!news) return;
  byId('live').textContent = state.sentence;
  announce();
}

function settle() {
  const { moment } = state;
  byId('em-at').textContent = `${moment.place} of ${moment.of} · ${moment.clock}`;
  byId('em-open').search = new URLSearchParams({ at: moment.at, ...(view.pod && { pod: view.pod }), ...(view.node && { node: view.node }) });
  const tried = byId('em-try');
  if (tried) tried.elements.at.value = moment.at;
  byId('em-back').disabled = !moment.before;
  byId('em-step').disabled = !acts && !moment.after;
  for (const tabs of document.querySelectorAll('.em-tabs')) open(tabs);
  mark(view);
  charts();
  // The server writes links as they are on the workbench's page.
  for (const below of document.querySelectorAll('.em-hold a[href]:not([href^="/"], [href^="#"], [href*=":"])')) {
    Object.assign(below, { href: base + below.getAttribute('href'), target: '_blank', rel: 'noopener' });
  }
  // A panel of the workbench may be as tall as its pane and scroll; here what scrolls must be reached by keys, too.
  for (const scroll of document.querySelectorAll('.em-hold .scroll')) scroll.tabIndex = 0;
}

/** One panel of a place is open: the one that somebody chose, else the one of the stage. */
function open(tabs) {
  const all = [...tabs.children];
  const wanted = [chosenTab, state.tab].find((name) => all.some((tab) => tab.dataset.tab === name))
    ?? all.find((tab) => tab.ariaSelected === 'true').dataset.tab;
  for (const tab of all) {
    const on = tab.dataset.tab === wanted;
    tab.setAttribute('aria-selected', String(on));
    tab.tabIndex = on ? 0 : -1;
    byId(`hold-${tab.dataset.tab}`).hidden = !on;
  }
}

/** Charts need Plotly, which is large: only where there are some. */
const loaded = new Map(); // address of a script → what it gives
async function charts() {
  const wanted = [byId('heat-map') && app.dataset.heat, byId('panel-metrics') && app.dataset.metrics];
  if (wanted[1]) byId('bench').dataset.tab = 'metrics';
  for (const url of wanted) {
    if (!url) continue;
    if (!loaded.has(url)) loaded.set(url, import(url));
    const { settleMap, markNodes } = await loaded.get(url);
    settleMap?.();
    markNodes?.(view.node, pinned());
  }
  document.dispatchEvent(new CustomEvent('look-changed'));
}

// --- moving ---------------------------------------------------------------------------------------------------------------

async function command(verb) {
  at = '';
  const answer = await fetch(`${base}do/${verb}/`, { method: 'POST', body: new URLSearchParams(), credentials: 'omit', signal: AbortSignal.timeout(patience) }).catch(() => null);
  if (!answer) return say('The server did not answer, so your last click may be lost.');
  if (!answer.ok) return say(await sentenceOf(answer));
  return show();
}

function go(moment) {
  at = moment;
  return show();
}

/** Forwards: a stage where the link may change the sandbox and the present is in view, else the next moment. */
function step() {
  if (acts && state.moment.present) return command('stage');
  if (state.moment.after) return go(state.moment.after);
  return undefined;
}

function back() {
  if (acts && state.moment.present) return command('back');
  if (state.moment.before) return go(state.moment.before);
  return undefined;
}

function choose(changes) {
  Object.assign(view, changes);
  return show();
}

const CLICKS = [
  ['#em-back', back],
  ['#em-step', step],
  ['[role="tab"]', (el) => openTab(el.dataset.tab)],
  ['[data-to]', (el) => { openTab(el.dataset.gotoTab); return go(el.dataset.to); }],
  ['[data-goto-tab]', (el) => openTab(el.dataset.gotoTab)],
  ['[data-layout]', (el) => choose({ layout: el.dataset.layout })],
  ['[data-colour]', (el) => choose({ colour: el.dataset.colour })],
  ['[data-group]', (el) => choose({ group: el.dataset.group })],
  ['[data-reasons]', (el) => choose({ reasons: el.dataset.reasons })],
  ['[data-page]', (el) => choose({ pages: put(view.pages, el.dataset.list, Number(el.dataset.page)) })],
  ['[data-order]', (el) => choose({ orders: put(view.orders, el.dataset.list, el.dataset.order), pages: put(view.pages, el.dataset.list, 0) })],
  ['[data-nodes]', (el) => { pin(el.dataset.nodes); mark(view); }],
  ['i[data-at], button[data-at]', (el) => go(el.dataset.at)],
  ['button[data-why]', (el) => cell(el.dataset.node, el.dataset.why)],
  ['.mx.cells td', (el) => { const { node, plugin } = cellOf(el) ?? {}; if (plugin) cell(node, plugin); }],
  ['button[data-pod], .pod[data-pod]', (el) => choose({ pod: el.dataset.pod, node: '', plugin: '' })],
  ['button[data-node], .cand[data-node], article[data-node]', (el) => choose({ node: el.dataset.node, pod: '', plugin: '' })],
];

function openTab(tab) {
  chosenTab = tab;
  settle();
}

function cell(node, plugin) {
  const same = view.node === node && view.plugin === plugin;
  choose({ node: same ? '' : node, plugin: same ? '' : plugin });
}

document.addEventListener('click', ({ target }) => {
  if (!app.contains(target)) return;
  for (const [selector, act] of CLICKS) {
    const el = target.closest(selector);
    if (el) return act(el);
  }
});

document.addEventListener('node-chosen', ({ detail: node }) => choose({ node, pod: '', plugin: '' }));

document.addEventListener('keydown', (event) => {
  const tab = event.target.closest?.('[role="tab"]');
  const turn = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!tab || !turn) return;
  event.preventDefault();
  const all = [...tab.parentElement.children];
  const next = all[(all.indexOf(tab) + turn + all.length) % all.length];
  openTab(next.dataset.tab);
  next.focus();
});

// --- the page around it ---------------------------------------------------------------------------------------------------

function announce() {
  const { at: moment, place: number, of, clock } = state.moment;
  tell('moment', { at: moment, place: number, of, clock, present: state.moment.present, sentence: state.sentence });
  tell('facts', { facts: state.facts });
}

/** Message → what it does; what a link does not permit the server refuses. */
listen({
  step,
  back,
  go: ({ at: moment }) => { if (typeof moment === 'string' && /^(start|end|\d{1,9}\.\d{1,9})$/.test(moment)) go(moment); },
  show({ pod, node, panel }) {
    const names = [pod, node, panel].every((name) => name === undefined || typeof name === 'string' && name.length <= 400);
    if (!names) return;
    if (panel !== undefined) {
      openTab(panel);
      document.querySelector(`[data-place="${CSS.escape(panel)}"]`)?.scrollIntoView({ block: 'nearest' });
    }
    if (pod !== undefined || node !== undefined) choose({ pod: pod ?? '', node: node ?? '', plugin: '' });
  },
});

/** As tall as all that is shown would be. */
let told = 0;
function measure() {
  const main = byId('bench');
  const within = [...main.children].reduce((sum, child) => sum + child.getBoundingClientRect().height, 0);
  const height = Math.ceil(within + document.querySelector('.em-foot').getBoundingClientRect().height) + 2;
  if (height === told) return;
  told = height;
  tell('resize', { height });
}
const sizes = new ResizeObserver(measure);
for (const child of [...byId('bench').children, document.querySelector('.em-foot')]) sizes.observe(child);

// --- live: the socket only says that there is something new -----------------------------------------------------------------

const LOST = 'The connection is lost. Trying again.';
let tries = 0;
function follow() {
  const silent = (yes) => say(yes ? LOST : '');
  const socket = connect(new URL(line, location.href.replace(/^http/, 'ws')), { silent });
  socket.addEventListener('open', () => {
    tries = 0;
    if (byId('em-told').textContent === LOST) say('');
    socket.send(JSON.stringify({ open: 'status' }));
  });
  socket.addEventListener('message', ({ data }) => {
    // The first one, too: something may have happened since this page was made.
    if (!data.startsWith('{') && !at) show();
  });
  socket.addEventListener('close', ({ code }) => {
    if (code === 4404) return say('This sandbox no longer exists. The page that embeds it must name another one.');
    if (tries) say(LOST);
    tries += 1;
    const late = code === 4429 ? 10000 + Math.random() * 20000 : Math.random() * Math.min(500 * 2 ** tries, 10000) + 500;
    setTimeout(follow, late); // What it says first shows what was missed.
  });
}

link(app);
settle();
if (line) follow();
tell('ready', { panels: panels.split(','), acts });
announce();
