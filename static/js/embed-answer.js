// An answer in somebody else's page tells it when it is there, how tall it is, and why it cannot be shown.

import { tell, tellHeight } from './embed-talk.js';

const main = document.getElementById('em-answer');
const foot = document.querySelector('.em-foot');
let sizes = null;

/** The answer replaces the page that waits for it. */
function watch() {
  sizes?.disconnect();
  sizes = tellHeight([main.firstElementChild, foot]);
}

document.addEventListener('htmx:afterSwap', ({ detail: { xhr } }) => {
  watch();
  const sentence = main.querySelector('.refused')?.textContent.trim();
  if (xhr?.status >= 400 && sentence) tell('refused', { status: xhr.status, sentence });
});
watch();
tell('ready', { panels: ['differences'], acts: false });
