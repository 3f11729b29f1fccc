// The film of a preemption: frame by frame by buttons, by a click on a frame, or played. The server draws the frames; this
// module lights one of them.

import { say } from './words.js';

const FRAME_MS = 1400;
let of = ''; // the film in view: cycle and node
let at = -1; // the lit frame, -1 = none: the whole film is shown
let timer = 0;

const box = () => document.getElementById('film');
const many = () => box()?.children.length ?? 0;

function show() {
  const film = box();
  if (!film) return;
  for (const [index, frame] of [...film.children].entries()) {
    frame.classList.toggle('is-now', index === at);
    frame.classList.toggle('is-later', at >= 0 && index > at);
    if (index === at) frame.setAttribute('aria-current', 'step');
    else frame.removeAttribute('aria-current');
  }
  const explained = at < 0 ? many() - 1 : at;
  for (const line of document.querySelectorAll('#film-why [data-frame]')) line.hidden = Number(line.dataset.frame) !== explained;
  const play = document.getElementById('film-play');
  play.setAttribute('aria-pressed', String(timer !== 0));
  play.setAttribute('aria-label', say(timer ? 'script.pause-film' : 'script.play-film'));
  play.querySelector('use').setAttribute('href', timer ? '#i-pause' : '#i-play');
  if (at >= 0) film.children[at].scrollIntoView({ block: 'nearest' });
}

function stop() {
  clearTimeout(timer);
  timer = 0;
}

function roll() {
  at += 1;
  timer = at < many() - 1 ? setTimeout(roll, FRAME_MS) : 0;
  show();
}

const ACTS = {
  back: () => { stop(); at = Math.max(0, (at < 0 ? many() : at) - 1); },
  next: () => { stop(); at = Math.min(many() - 1, at + 1); },
  play: () => {
    if (timer) return stop();
    if (at >= many() - 1) at = -1;
    roll();
  },
};

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-film]');
  if (!button || !box()) return;
  of = box().dataset.filmOf;
  const { film } = button.dataset;
  if (ACTS[film]) ACTS[film]();
  else { stop(); at = Number(film); }
  show();
});

// The same film keeps its frame after an update; another film starts unlit.
document.body.addEventListener('htmx:wsAfterMessage', () => {
  const film = box();
  if (!film || film.dataset.filmOf !== of) {
    stop();
    at = -1;
    of = film?.dataset.filmOf ?? '';
  }
  if (at >= many()) at = many() - 1;
  show();
});
