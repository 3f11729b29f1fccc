// An update: place the panels that the server sent, and bring the rest of the page up to date.

import { settleAway } from './away.js';
import { isWaiting } from './connection.js';
import { settleRed } from './expect.js';
import { settleFolds } from './fold.js';
import { settleMap } from './heat.js';
import { quietly, remember, restore, travel } from './keep.js';
import { settleLesson } from './lesson.js';
import { settleTurn } from './lists.js';
import { fragment } from './no-answer.js';
import { sayCalmly } from './notices.js';
import { patch } from './patch.js';
import { settleKnob } from './scrub.js';
import { waits } from './stay.js';
import { aimedAt } from './steady.js';
import { centreTab, choose, isTold, markChoice, rail, sendView, settleTab, view } from './view.js';
import { settleSentence } from './whole.js';
import { say } from './words.js';

const { htmx } = window;
const byId = (id) => document.getElementById(id);
let last = ''; // the last stage shown

export const process = (element) => htmx.process(element);

/** First change the page, then ask for places: each switch costs another layout. */
export function update(detail) {
  const before = remember();
  quietly(() => place(detail.message));
  const news = settle();
  restore(before, Number(/^<!--(\d+)-->/.exec(detail.message)?.[1] ?? 0));
  settleTurn();
  if (news) lookAtNow();
  settleKnob(view.at);
  settleSentence();
  travel(before);
  sendView();
  htmx.trigger('#app', 'htmx:wsAfterMessage', detail);
}

/** Put panels in place. htmx would replace each as a whole, and announce every element that leaves. */
function place(html) {
  for (const panel of [...fragment(html).children]) if (!waits(panel)) patch(panel, process);
}

/** Bring up to date what is not in the panels, without asking for places. Return true if a stage has begun. */
export function settle() {
  const stage = byId('panel-sentence').dataset;
  const news = stage.key !== last;
  if (news && last && !isTold()) byId('live').textContent = byId('sentence-text').textContent.trim();
  last = stage.key;
  settleAway();
  settleTab(stage, news);
  settleMoment();
  const { head, length } = byId('panel-toolbar').dataset;
  byId('do-back')?.setAttribute('aria-disabled', String(Number(head) <= 0));
  byId('do-forward')?.setAttribute('aria-disabled', String(Number(head) >= Number(length)));
  settleRed();
  settleLesson();
  settleFolds();
  settleMap();
  markChoice();
  return news;
}

/** Show the present if somebody went back to the moment in view, or past it. */
function settleMoment() {
  const { asked, now } = byId('panel-timeline').dataset;
  if (!view.at || asked !== view.at || now || isTold()) return;
  choose({ at: '', cycle: 0 });
  if (!isWaiting()) sayCalmly(say('script.past-gone'));
}

/** Scroll to the stage and to its tab. */
export function lookAtNow() {
  const ribbon = byId('panel-ribbon');
  const stage = ribbon.querySelector('.is-now');
  if (stage && !aimedAt(ribbon)) ribbon.scrollLeft = stage.offsetLeft - ribbon.clientWidth / 2 + stage.offsetWidth / 2;
  if (!aimedAt(rail)) centreTab();
}
