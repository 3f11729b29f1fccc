// Figures: what a reader drags is decided by the engine anew, and the frame shows what comes of it.

import { patchInside } from './patch.js';
import { say } from './words.js';

const wanted = new WeakMap(); // figure → its address, while an older one is still being fetched

/** Return the address of what the controls of a figure now say. */
function address(figure) {
  const places = [...new FormData(figure.querySelector('.fig-k')).values()];
  return `${figure.dataset.base}-${places.join('-')}/`;
}

async function load(from) {
  const response = await fetch(from);
  if (!response.ok) throw new Error(`${response.status}`);
  return new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('.fig');
}

/** Tell about an error at the figure; an empty text takes it away. */
function tell(figure, text) {
  const place = figure.querySelector('.fig-err');
  place.textContent = text;
  place.hidden = !text;
}

/** Show what the controls say. While a frame is on its way, only the newest choice waits. */
async function show(figure) {
  const running = wanted.has(figure);
  wanted.set(figure, address(figure));
  if (running) return;
  let shown = null;
  try {
    while (shown !== wanted.get(figure)) {
      shown = wanted.get(figure);
      const fresh = await load(shown);
      const frame = figure.querySelector('.fig-f');
      // It never gets lower, so what is below does not jump with each choice.
      frame.style.minHeight = `${Math.max(frame.offsetHeight, parseFloat(frame.style.minHeight) || 0)}px`;
      patchInside(frame, fresh.querySelector('.fig-f').innerHTML, () => {});
    }
    tell(figure, '');
  } catch {
    tell(figure, say('script.figure-failed'));
  }
  wanted.delete(figure);
}

document.addEventListener('input', ({ target }) => {
  const figure = target.closest?.('.fig-k')?.closest('.fig');
  if (!figure) return;
  if (target.type === 'range') {
    const text = JSON.parse(target.dataset.values)[Number(target.value)];
    target.setAttribute('aria-valuetext', text);
    target.closest('label').querySelector('output').textContent = text;
  }
  show(figure);
});

// A change that is over is told once more, stage by stage.
document.addEventListener('change', ({ target }) => {
  const figure = target.closest?.('.fig-k')?.closest('.fig');
  if (!figure) return;
  figure.classList.remove('is-new');
  figure.getBoundingClientRect(); // Without this the browser would see no change of classes.
  figure.classList.add('is-new');
});

// Enter in a control would send its form, which has no address of its own.
document.addEventListener('submit', (event) => {
  if (event.target.matches?.('.fig-k')) event.preventDefault();
  // In the page of somebody else, a sandbox opens beside it.
  if (event.target.matches?.('.embed .fig-end form')) event.target.target = '_blank';
}, true);

const filling = new WeakSet(); // places whose figure is being fetched

/** Fill the places of figures that the page only names, such as in the text of a lesson. Try again where it failed. */
export async function fillFigures(root = document) {
  for (const place of root.querySelectorAll('[data-figure]')) {
    if (filling.has(place) || place.querySelector('.fig')) continue;
    filling.add(place);
    const holder = place.firstElementChild ?? document.createElement('div');
    holder.dataset.own = '';
    place.append(holder);
    try {
      holder.replaceChildren(document.importNode(await load(`${place.dataset.figure}/`), true));
    } catch {
      const error = document.createElement('p');
      error.className = 'fig-err';
      error.textContent = say('script.figure-failed');
      holder.replaceChildren(error);
    }
    filling.delete(place);
  }
}
