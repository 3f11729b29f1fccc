// A sandbox in somebody else's page: panels that the server draws, moments to move through, and messages to the page
// around it. The server decides by the link what may be changed.

import { listenToClicks } from './clicks.js';
import './counting.js';
import { followLine } from './embed-line.js';
import { listen, tell } from './embed-talk.js';
import { link, mark, pin, pinned } from './links.js';
import { settleTurn } from './lists.js';
import { fragment } from './no-answer.js';
import { patch } from './patch.js';
import { arrows, select } from './tabs.js';
import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const app = byId('app');
const { base, panels, socket: line } = app.dataset;
const patience = Number(app.dataset.patience);
const acts = 'acts' in app.dataset;
const view = JSON.parse(byId('em-view').textContent);
let state = JSON.parse(byId('em-state').textContent);
view.at = line && state.moment.present ? '' : state.moment.at; // '' follows the present
let chosenTab = app.dataset.tab ?? '';
let asking = 0;

const ask = (path, options) => fetch(base + path, { ...options, credentials: 'omit', signal: AbortSignal.timeout(patience) }).catch(() => null);

async function show() {
  asking += 1;
  const mine = asking;
  const query = new URLSearchParams(Object.entries({ ...view, panels }).filter(([, value]) => value));
  const answer = await ask(`embed/state/?${query}`);
  if (mine !== asking) return; // there is a newer request
  if (!answer?.ok) return note(answer ? await sentenceOf(answer) : say('script.embed-no-answer'));
  note('');
  place(await answer.json());
}

/** Return the sentence of a refusal, which is a fragment of a page. */
async function sentenceOf(answer) {
  return fragment(await answer.text()).textContent.replace(/\s+/g, ' ').trim().slice(0, 300) || say('script.answered', { status: answer.status });
}

const note = (text) => { byId('em-note').textContent = text; };

function place({ fragments, ...next }) {
  const news = next.sentence !== state.sentence || next.moment.at !== state.moment.at;
  state = next;
  for (const html of Object.values(fragments)) for (const panel of [...fragment(html).children]) patch(panel, () => {});
  settle();
  settleTurn();
  if (!news) return;
  byId('live').textContent = state.sentence;
  announce();
}

function settle() {
  const { moment } = state;
  byId('em-at').textContent = say('script.embed-moment', { place: String(moment.place), moments: String(moment.of), clock: moment.clock });
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
  // What scrolls must be in reach of the keyboard.
  for (const scroll of document.querySelectorAll('.em-hold .scroll')) scroll.tabIndex = 0;
}

/** Open one panel of a place: the chosen one, else that of the stage. */
function open(tabs) {
  const all = [...tabs.children];
  const wanted = [chosenTab, state.tab].find((name) => all.some((tab) => tab.dataset.tab === name))
    ?? all.find((tab) => tab.ariaSelected === 'true').dataset.tab;
  select(all, wanted);
  for (const { dataset: { tab } } of all) byId(`hold-${tab}`).hidden = tab !== wanted;
}

const loaded = new Map(); // address of a script → its module
/** Load what draws charts and graphs only if the embed shows one. */
async function charts() {
  const wanted = [byId('heat-map') && app.dataset.heat, byId('panel-metrics') && app.dataset.metrics, byId('panel-topology') && app.dataset.affinity];
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

async function command(verb) {
  Object.assign(view, { at: '', cycle: 0 });
  const answer = await ask(`do/${verb}/`, { method: 'POST', body: new URLSearchParams() });
  if (!answer) return note(say('script.embed-lost-click'));
  if (!answer.ok) return note(await sentenceOf(answer));
  return show();
}

/** Run a stage if the link may change the sandbox and the present is in view; else show the next moment. */
function step() {
  if (acts && state.moment.present) return command('stage');
  if (state.moment.after) return look(state.moment.after);
  return undefined;
}

function back() {
  if (acts && state.moment.present) return command('back');
  if (state.moment.before) return look(state.moment.before);
  return undefined;
}

function choose(changes) {
  Object.assign(view, changes);
  return show();
}

/** Show another moment, and of several attempts at that time the one of `cycle`. */
const look = (at, cycle = 0) => choose({ at, cycle });

function openTab(tab) {
  chosenTab = tab;
  settle();
}

byId('em-back').addEventListener('click', back);
byId('em-step').addEventListener('click', step);
listenToClicks({
  view,
  choose,
  look,
  lookAtAttempt: (at, cycle, changes) => choose({ at, cycle, ...changes }),
  openTab,
  goTo: openTab,
  followStage: () => openTab(''),
  pin: (nodes) => { pin(nodes); settle(); },
});
document.addEventListener('keydown', (event) => { if (arrows(event, '[role="tablist"]', openTab)) event.preventDefault(); });

function announce() {
  const { at: moment, place: number, of, clock } = state.moment;
  tell('moment', { at: moment, place: number, of, clock, present: state.moment.present, sentence: state.sentence });
  tell('facts', { facts: state.facts });
}

/** Message → what it does. The server refuses what the link does not permit. */
listen({
  step,
  back,
  go: ({ at: moment }) => { if (typeof moment === 'string' && /^(start|end|\d{1,9}\.\d{1,9})$/.test(moment)) look(moment); },
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

let lastHeight = 0;
/** Tell the page around it the height of everything shown. */
function measure() {
  const main = byId('bench');
  const within = [...main.children].reduce((sum, child) => sum + child.getBoundingClientRect().height, 0);
  const height = Math.ceil(within + document.querySelector('.em-foot').getBoundingClientRect().height) + 2;
  if (height === lastHeight) return;
  lastHeight = height;
  tell('resize', { height });
}
const sizes = new ResizeObserver(measure);
for (const child of [...byId('bench').children, document.querySelector('.em-foot')]) sizes.observe(child);

link(app);
settle();
if (line) followLine(line, note, () => { if (!view.at) show(); });
tell('ready', { panels: panels.split(','), acts });
announce();
