// Play: one command a second, each after the answer to the one before.

import { myName } from './name.js';

const byId = (id) => document.getElementById(id);
const play = byId('play');
let run = 0; // counts the presses of the button: a tick of an earlier run ends there
let next = 0;

function setPlaying(on) {
  clearTimeout(next);
  run += 1;
  play.setAttribute('aria-pressed', String(on));
  play.querySelector('use').setAttribute('href', on ? '#i-pause' : '#i-play');
  play.querySelector('.play-t').textContent = on ? 'Pause' : 'Play';
  if (on) tick(run);
}

async function tick(mine) {
  const body = new URLSearchParams({ seconds: byId('speed').value, play: '1', who: myName() });
  const began = performance.now();
  const url = `${byId('app').dataset.base}do/advance/`;
  const answer = await fetch(url, { method: 'POST', body, headers: { 'HX-Request': 'true' } }).catch(() => null);
  if (mine !== run) return;
  if (!answer?.ok) {
    setPlaying(false);
    if (answer) byId('notice').innerHTML = await answer.text();
    return;
  }
  next = setTimeout(() => tick(mine), Math.max(0, 1000 - (performance.now() - began)));
}

play?.addEventListener('click', () => setPlaying(play.getAttribute('aria-pressed') !== 'true'));
document.addEventListener('click', ({ target }) => {
  if (play && target.closest('#do-back, #goto')) setPlaying(false);
});
