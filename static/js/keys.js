// The keys of the workbench: Escape, arrows between tabs, keys of the timeline, and keys of buttons.

import { expectThis } from './expect.js';
import { focusLesson } from './keep.js';
import { pin } from './links.js';
import { arrows } from './tabs.js';
import { choose, look, openTab } from './view.js';

const TYPES = 'input, textarea, select, dialog[open], [contenteditable], .ace_editor';
let swallow = false; // the space bar pressed a button: its release must not click the focused one

export function listenToKeys(timeline) {
  document.addEventListener('keydown', (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (key === 'Escape') return escape(target);
    // To the sliders and switches of a figure a letter means nothing.
    const types = target.closest(TYPES) && !(/^[a-z]$/.test(key) && target.closest('.fig-k'));
    if (types || arrows(event, '.tabs-all', openTab)) return;
    if (!target.closest('[role="tab"], [role="separator"], table') && travels(event, timeline)) return;
    if (key === 'x') return expectThis();
    if (key === ' ' && target.matches(':focus-visible:not(body, #scroll-lesson)')) return;
    press(event);
  });
  document.addEventListener('keyup', (event) => {
    if (event.key === ' ' && swallow) event.preventDefault();
    swallow = false;
  });
}

function press(event) {
  const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!button) return;
  event.preventDefault();
  swallow = event.key === ' ';
  if (document.activeElement === document.body && button.closest('#lesson')) focusLesson();
  button.click();
}

/** Do what the keys of the timeline do. Return false if the key is another one. */
function travels(event, timeline) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) timeline.go(step, event.shiftKey);
  else if (event.key === 'Home') timeline.first();
  else if (event.key === 'End') look('');
  else return false;
  event.preventDefault();
  return true;
}

function escape(target) {
  if (target.closest('dialog[open]')) return;
  for (const open of document.querySelectorAll('details.about[open], details.precise[open]')) open.open = false;
  pin('');
  choose({ pod: '', node: '', plugin: '' });
}
