// An answer in somebody else's page tells it when it is there, how tall it is, and why it cannot be shown.

import { tell } from './embed-talk.js';

const main = document.getElementById('em-answer');
const foot = document.querySelector('.em-foot');
let last = 0;

function measure() {
  const height = Math.ceil(main.firstElementChild.getBoundingClientRect().height + foot.getBoundingClientRect().height) + 2;
  if (height !== last) tell('resize', { height });
  last = height;
}

const sizes = new ResizeObserver(measure);

/** The answer replaces the page that waits for it. */
function watch() {
  sizes.disconnect();
  sizes.observe(main.firstElementChild);
}

document.addEventListener('htmx:afterSwap', ({ detail: { xhr } }) => {
  watch();
  const sentence = main.querySelector('.refused')?.textContent.trim();
  if (xhr?.status >= 400 && sentence) tell('refused', { status: xhr.status, sentence });
});
watch();
tell('ready', { panels: ['differences'], acts: false });
