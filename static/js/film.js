// Films of a preemption and of a search for devices: frame by frame by buttons, by a click on a frame, or played. The server
// draws the frames; this module lights one of them, and shows its words.

import { say } from './words.js';

const FRAME_MS = 1400;
const films = new Map(); // id of a film → `of`: what is in view; `at`: the lit frame, -1: none, the whole film is shown; `timer`

const all = () => document.querySelectorAll('ol.film');
const many = (film) => film.children.length;

function state(film) {
  if (!films.has(film.id)) films.set(film.id, { of: '', at: -1, timer: 0 });
  return films.get(film.id);
}

function show(film) {
  const { at, timer } = state(film);
  for (const [index, frame] of [...film.children].entries()) {
    frame.classList.toggle('is-now', index === at);
    frame.classList.toggle('is-later', at >= 0 && index > at);
    if (index === at) frame.setAttribute('aria-current', 'step');
    else frame.removeAttribute('aria-current');
  }
  const box = film.closest('.filmed');
  const explained = at < 0 ? many(film) - 1 : at;
  for (const line of box.querySelectorAll('.filmwhy [data-frame]')) line.hidden = Number(line.dataset.frame) !== explained;
  const play = box.querySelector('[data-film="play"]');
  play.setAttribute('aria-pressed', String(timer !== 0));
  play.setAttribute('aria-label', say(timer ? 'script.pause-film' : 'script.play-film'));
  play.querySelector('use').setAttribute('href', timer ? '#i-pause' : '#i-play');
  if (at >= 0) film.children[at].scrollIntoView({ block: 'nearest' });
}

function stop(now) {
  clearTimeout(now.timer);
  now.timer = 0;
}

function roll(id) {
  const film = document.getElementById(id);
  const now = films.get(id);
  now.timer = 0;
  if (!film) return;
  now.at += 1;
  if (now.at < many(film) - 1) now.timer = setTimeout(roll, FRAME_MS, id);
  show(film);
}

const ACTS = {
  back: (film, now) => { stop(now); now.at = Math.max(0, (now.at < 0 ? many(film) : now.at) - 1); },
  next: (film, now) => { stop(now); now.at = Math.min(many(film) - 1, now.at + 1); },
  play: (film, now) => {
    if (now.timer) return stop(now);
    if (now.at >= many(film) - 1) now.at = -1;
    roll(film.id);
  },
};

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-film]');
  const film = button?.closest('.filmed')?.querySelector('ol.film');
  if (!film) return;
  const now = state(film);
  now.of = film.dataset.filmOf;
  const act = ACTS[button.dataset.film];
  if (act) act(film, now);
  else { stop(now); now.at = Number(button.dataset.film); }
  show(film);
});

// The same film keeps its frame after an update; another film starts unlit.
document.body.addEventListener('htmx:wsAfterMessage', () => {
  for (const [id, now] of films) if (!document.getElementById(id)) { stop(now); films.delete(id); }
  for (const film of all()) {
    const now = state(film);
    if (film.dataset.filmOf !== now.of) {
      stop(now);
      Object.assign(now, { of: film.dataset.filmOf, at: -1 });
    }
    now.at = Math.min(now.at, many(film) - 1);
    show(film);
  }
});
