// Play sends one command a second, each after the answer to the last one. Its answers are shown as those of any other step.

import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const play = byId('play');
let began = 0; // when the running command was sent, 0 if none runs
let next = 0;

const plays = () => play.getAttribute('aria-pressed') === 'true';

function setPlaying(on) {
  clearTimeout(next);
  play.setAttribute('aria-pressed', String(on));
  play.querySelector('use').setAttribute('href', on ? '#i-pause' : '#i-play');
  play.querySelector('.play-t').textContent = say(on ? 'script.pause' : 'script.play');
  if (on) {
    byId('notice').replaceChildren();
    tick();
  }
}

/** Send the next command, unless one still runs after a pause: its answer continues. */
function tick() {
  if (began) return;
  const values = { seconds: byId('speed').value, play: '1' };
  // A notice reports a failure; htmx rejects its promise as well.
  window.htmx.ajax('POST', 'do/advance/', { source: play, target: '#notice', swap: 'innerHTML', values }).catch(() => {});
}

play?.addEventListener('htmx:beforeSend', () => { began = performance.now(); });
play?.addEventListener('htmx:afterRequest', ({ detail: { successful } }) => {
  const past = performance.now() - began;
  began = 0;
  if (!plays()) return;
  if (successful) next = setTimeout(tick, Math.max(0, 1000 - past));
  else setPlaying(false);
});
play?.addEventListener('click', () => setPlaying(!plays()));
document.addEventListener('click', ({ target }) => {
  if (play && target.closest('#do-back, #goto')) setPlaying(false);
});
