// The lesson beside the workbench: its pointers light and open what they name; this browser saves its progress.

import { rememberAnswers } from './answered.js';
import { fillFigures } from './figure.js';
import { unfold } from './fold.js';
import { answerOnMap, markNamed } from './on-map.js';
import { saveProgress } from './progress.js';
import { read, write } from './storage.js';
import { choose, lendTab, sendView, showOnPhone, view } from './view.js';

const byId = (id) => document.getElementById(id);
const PANES = {
  queues: ['.p-queue', 'queue'], bindings: ['#panel-bindings', 'queue'], faults: ['#panel-faults', 'queue'], cluster: ['.p-cluster', 'cluster'], inspector: ['.p-inspector', 'inspector'], decision: ['#decision', 'decision'],
  timeline: ['#panel-timeline', ''], ribbon: ['#panel-ribbon', ''], sentence: ['#panel-sentence', ''],
};

/** Kind of pointer → selector of what it names. Pods and nodes light up as everywhere. */
const MARKS = {
  queue: (name) => `[data-queue="${CSS.escape(name)}"]`,
  stage: (name) => `.st:has(> #st-${CSS.escape(name)})`,
  tab: (name) => `#tab-${CSS.escape(name)}`,
  pane: (name) => PANES[name]?.[0],
  cell: (name) => { const [, node, plugin] = name.split('@'); return `#f\\:${CSS.escape(node)}\\:${CSS.escape(plugin ?? '')}, #s\\:${CSS.escape(node)}\\:${CSS.escape(plugin ?? '')}`; },
};

const split = (pointer) => {
  const place = pointer.indexOf(':');
  return [pointer.slice(0, place), pointer.slice(place + 1)];
};

function unlight() {
  for (const marked of document.querySelectorAll('.is-pointed')) marked.classList.remove('is-pointed');
}

function light(pointer) {
  unlight();
  const [kind, name] = split(pointer.dataset.point);
  const selector = MARKS[kind]?.(name);
  if (selector) for (const marked of document.querySelectorAll(selector)) marked.classList.add('is-pointed');
  byId('lesson-points').textContent = pointer.dataset.point.replace(':', ' ');
}

function goTo(tab) {
  lendTab(tab);
  showOnPhone('decision');
}

/** Kind of pointer → what a click on it opens. */
const OPEN = {
  pod: (name) => { choose({ pod: name, node: '', plugin: '' }); showOnPhone('inspector'); },
  node: (name) => { choose({ node: name, pod: '', plugin: '' }); showOnPhone('inspector'); },
  tab: goTo,
  stage: (name) => { const tab = byId(`st-${name}`)?.dataset.gotoTab; if (tab) goTo(tab); },
  queue: () => showOnPhone('queue'),
  pane: (name) => { if (PANES[name]?.[1]) showOnPhone(PANES[name][1]); },
  cell: (name) => {
    const [pod, node, plugin] = name.split('@');
    goTo('filter');
    choose({ pod, node, plugin: plugin ?? '' });
  },
};

/** Remove the refusal of an answer that is changed or sent again: it is no longer true. */
const accept = ({ target }) => target.closest?.('.les-q, .les-again')?.querySelector('[data-refusal]').replaceChildren();

/** Listen to the pointers of the lesson, and to the switch for predictions. */
export function teach() {
  answerOnMap();
  const column = byId('lesson');
  for (const kind of ['input', 'change', 'htmx:beforeRequest']) column.addEventListener(kind, accept);
  const from = ({ target }) => {
    const pointer = target.closest?.('.ptr');
    if (pointer) light(pointer); else unlight();
  };
  column.addEventListener('pointerover', from);
  column.addEventListener('focusin', from);
  column.addEventListener('pointerleave', unlight);
  column.addEventListener('focusout', unlight);

  // Before the page's own table of clicks, which would treat the pointer as a mark of a pod.
  column.addEventListener('click', (event) => {
    const pointer = event.target.closest('.ptr');
    if (!pointer) return;
    event.stopPropagation();
    const [kind, name] = split(pointer.dataset.point);
    OPEN[kind]?.(name);
  });

  byId('skip-lesson')?.addEventListener('click', () => {
    unfold('lesson');
    showOnPhone('lesson');
  });

  const button = byId('predict');
  const set = (on) => {
    button.setAttribute('aria-pressed', String(on));
    view.predict = on ? 'on' : '';
    write('predict', on ? 'on' : '');
    sendView();
  };
  button.addEventListener('click', () => set(button.getAttribute('aria-pressed') !== 'true'));
  if (read('predict') === 'on') set(true);
  else view.predict = '';
}

let shown = null; // the last part shown
let judged = null; // the answers of a round that were judged then

/** After every update: save the progress; a part that opens shows what it is about. */
export function settleLesson() {
  fillFigures(byId('panel-lesson'));
  markNamed();
  const { slug, part, parts, look, finished, cost, round, rights } = byId('panel-lesson').dataset;
  if (rights) rememberAnswers(location.pathname, round.replace(/-\d+$/, ''), rights);
  // The text of a round is long on a phone, and its verdict is below it.
  if (rights && judged !== null && rights !== judged) document.querySelector('#panel-lesson .les-a')?.scrollIntoView({ block: 'nearest' });
  judged = rights ?? null;
  if (part === undefined || part === shown) return;
  const first = shown === null;
  shown = part;
  if (slug) saveProgress(slug, { part: Number(part), parts: Number(parts), done: finished !== undefined, at: location.pathname, cost });
  byId('scroll-lesson').scrollTop = 0;
  if (!look || (first && location.search)) return;
  const { tab, pod, node } = JSON.parse(look);
  if (tab) lendTab(tab);
  if (pod || node) choose({ pod, node, plugin: '' });
}
