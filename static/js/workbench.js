// The workbench in the browser. This module only connects the others. None of them computes anything about scheduling.

import './in-room.js';
import './name.js';
import './play.js';
import './split.js';
import { drawer } from './add.js';
import { bring } from './away.js';
import { listenToClicks } from './clicks.js';
import { keepConnection } from './connection.js';
import { findWith, showBranches, showTerm } from './dialogs.js';
import { fold } from './fold.js';
import { listenToKeys } from './keys.js';
import { teach } from './lesson.js';
import { link, pin } from './links.js';
import { cells } from './matrix.js';
import { noticesInSight } from './notices.js';
import { scrub, settleKnob } from './scrub.js';
import { tablesOf } from './share.js';
import { watchStays } from './stay.js';
import { tellSlowly } from './story.js';
import { lookAtNow, process, settle, update } from './update.js';
import * as views from './view.js';
import { settleSentence } from './whole.js';

const { htmx } = window;
const { look, markChoice, rail, sendView, setTab, showPane, view } = views;
const byId = (id) => document.getElementById(id);
const app = byId('app');
const adding = byId('drawer') ? drawer(app, htmx) : null; // null: this link cannot change anything

/** Open a drawer or a dialog again, as you left it. */
function backTo({ box, form }) {
  if (box === 'drawer') adding.again(form.replace('form-', ''));
  else if (box === 'configuration-drawer') document.dispatchEvent(new CustomEvent('configure'));
  else if (!byId(box).open) byId(box).showModal();
}

keepConnection(htmx, { opened: sendView, arrived: update });
listenToClicks({
  ...views,
  fold,
  pin: (nodes) => { pin(nodes); markChoice(); },
  showTerm,
  showBranches,
  add: (preset) => adding?.open(preset),
  edit: (kind, key) => adding?.openObject(kind, key),
  backTo,
});
listenToKeys(scrub(look));
byId('add')?.addEventListener('click', () => adding.open());
for (const select of document.querySelectorAll('[data-twin]')) {
  select.addEventListener('change', () => { byId(select.dataset.twin).value = select.value; });
}
findWith(adding);
tablesOf(view);
link(app);
watchStays(sendView, process);
noticesInSight();
teach();
tellSlowly();
cells(app);

const settlePlace = () => settleKnob(view.at);
rail.addEventListener('pointerleave', settle);
byId('panel-timeline').parentElement.addEventListener('pointerleave', settlePlace);
document.addEventListener('look-changed', () => {
  settle();
  lookAtNow();
  settleSentence();
});
addEventListener('resize', settlePlace);
addEventListener('resize', settleSentence);

if (view.tab) bring(view.tab);
if (view.pod || view.node) bring('inspector');
setTab(view.tab || byId('panel-sentence').dataset.tab || 'filter');
const pane = new URLSearchParams(location.search).get('panel');
if (document.querySelector(`.dock [data-panel="${CSS.escape(pane ?? '')}"]`)) showPane(pane);
settle();
lookAtNow();
settlePlace();
settleSentence();
