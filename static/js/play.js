// Play: one command a second, each after the answer to the one before. What becomes of it is said as of every other step.

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
  if (on) {
    byId('notice').replaceChildren();
    tick(run);
  }
}

function tick(mine) {
  const began = performance.now();
  play.addEventListener('htmx:afterRequest', ({ detail: { successful } }) => {
    if (mine !== run) return;
    if (successful) next = setTimeout(() => tick(mine), Math.max(0, 1000 - (performance.now() - began)));
    else setPlaying(false);
  }, { once: true });
  const values = { seconds: byId('speed').value, play: '1' };
  const said = () => {}; // A request that fails was told of; htmx rejects its promise as well.
  window.htmx.ajax('POST', 'do/advance/', { source: play, target: '#notice', swap: 'innerHTML', values }).catch(said);
}

play?.addEventListener('click', () => setPlaying(play.getAttribute('aria-pressed') !== 'true'));
document.addEventListener('click', ({ target }) => {
  if (play && target.closest('#do-back, #goto')) setPlaying(false);
});
