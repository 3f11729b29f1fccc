// What a click does: one table for the workbench and for embeds. Each page passes the functions that the rows call. An embed
// hides buttons that only the workbench has, so it needs no functions for them.

import { listenToFinders, put, turn } from './lists.js';
import { cellOf } from './matrix.js';

const byId = (id) => document.getElementById(id);
const NOTHING = { pod: '', node: '', plugin: '' };

/** Rows for the whole page: selector of what was clicked → what it does. The first match counts. */
const ANYWHERE = [
  ['[data-do="dismiss"]', (el) => el.closest('.toast').remove()],
  ['[data-do="follow"]', (el, page) => page.look('')],
  ['[data-do="follow-stage"]', (el, page) => page.toggleFollow()],
  ['[data-do="present"]', (el, page) => page.choose({ cycle: 0, at: '', pod: '', plugin: '' })],
  ['[data-do="unselect"]', (el, page) => page.choose(NOTHING)],
  ['[data-do="expectations"]', (el, page) => page.goTo('expectations')],
  ['[data-do="term"]', (el, page) => page.showTerm(el.dataset.tab)],
  ['[data-do="branches"]', (el, page) => page.showBranches()],
  ['[data-do="add"]', (el, page) => page.add(el.dataset)],
  ['[data-do="edit"]', (el, page) => page.edit(el.dataset.kind, el.dataset.key)],
  ['[data-do="back-to"]', (el, page) => { el.closest('.toast').remove(); page.backTo(el.dataset); }],
  ['[data-press]', press],
];

/** Rows for what is in the panels and around them. */
const IN_THE_APP = [
  ['[role="tab"]', (el, page) => page.openTab(el.dataset.tab)],
  ['[data-tabs]', ({ parentElement: group }, page) => page.openTab(group.dataset.last ?? group.querySelector('.tab:not(.is-away)').dataset.tab)],
  ['.st button', chooseStage],
  ['[data-goto-tab]', (el, page) => page.goTo(el.dataset.gotoTab)],
  ['.dock [data-panel]', (el, page) => page.showPane(el.dataset.panel)],
  ['[data-layout]', (el, page) => page.choose({ layout: el.dataset.layout })],
  ['[data-colour]', (el, page) => page.choose({ colour: el.dataset.colour })],
  ['[data-group]', (el, page) => page.choose({ group: el.dataset.group })],
  ['[data-reasons]', (el, page) => page.choose({ reasons: el.dataset.reasons })],
  ['button[data-replica]', ({ dataset: { replica } }, page) => page.choose({ replica: page.view.replica === replica ? '' : replica })],
  ['[data-fold]', (el, page) => page.fold(el)],
  ['[data-page]', turnPage],
  ['[data-order]', order],
  ['[data-nodes]', (el, page) => page.pin(el.dataset.nodes)],
  ['i[data-at]', (el, page) => page.look(el.dataset.at)],
  ['button[data-cycle]', chooseAttempt],
  ['button[data-at]', (el, page) => page.look(el.dataset.at)],
  ['button[data-why]', (el, page) => chooseCell(el, page, el.dataset.node, el.dataset.why)],
  ['.cand[data-node]', (el, page) => page.choose({ node: el.dataset.node, pod: '' })],
  ['button[data-pod], button[data-node]', chooseThing],
  ['.pod[data-pod], .ag-n[data-pod]', chooseThing],
  ['.mx.cells td', (el, page) => { const { node, plugin } = cellOf(el) ?? {}; if (plugin) chooseCell(el, page, node, plugin); }],
  ['article[data-node]', chooseThing],
];

/** `page`: the functions of the page, and its `view`. */
export function listenToClicks(page) {
  const app = byId('app');
  document.addEventListener('click', ({ target, isTrusted }) => {
    if (perform(ANYWHERE, target, page)) return;
    if (isTrusted) for (const menu of document.querySelectorAll('details:is(.about, .precise)[open]')) if (!menu.contains(target)) menu.open = false;
    if (app.contains(target)) perform(IN_THE_APP, target, page);
  });
  listenToFinders(app, page);
  document.addEventListener('node-chosen', ({ detail: node }) => chooseThing(byId('heat-map'), page, { node }));
}

/** Do what the first matching row says. Return false if there is none. */
function perform(rows, target, page) {
  for (const [selector, act] of rows) {
    const el = target.closest(selector);
    if (!el) continue;
    act(el, page);
    return true;
  }
  return false;
}

/** Press the button of the bar for a tool in the menu of a small window. */
function press(button) {
  byId(button.dataset.press).click();
  if (button.closest('.more-b').matches(':last-of-type')) button.closest('details').open = false;
}

/** Open the tab of a stage; in the past show the moment of the stage, too. The stage in view lets the tab follow again. */
function chooseStage(el, page) {
  const { to, gotoTab } = el.dataset;
  if (el.matches('[aria-current]')) return page.followStage();
  page.goTo(gotoTab);
  if (to) page.look(to, Number(byId('panel-ribbon').dataset.cycle));
  return undefined;
}

function chooseAttempt({ dataset: { at, cycle, pod } }, page) {
  page.lookAtAttempt(at, Number(cycle), pod ? { pod, node: '' } : {});
}

function chooseCell(el, page, node, plugin) {
  const again = page.view.node === node && page.view.plugin === plugin;
  if (el.closest('#panel-inspector')) page.openTab(el.dataset.in ?? 'filter');
  page.choose({ node: again ? '' : node, plugin: again ? '' : plugin });
}

function chooseThing(el, page, { pod, node } = el.dataset) {
  page.choose(pod ? { ...NOTHING, pod } : { node, pod: '', plugin: page.view.node === node ? page.view.plugin : '' });
  if (el.closest('.p-queue, .p-cluster')) page.showOnPhone('inspector');
}

function turnPage({ dataset: { list, page: number } }, page) {
  turn(list);
  page.choose({ pages: put(page.view.pages, list, Number(number)) });
}

function order({ dataset: { list, order: column } }, page) {
  page.choose({ orders: put(page.view.orders, list, column), pages: put(page.view.pages, list, 0) });
}
