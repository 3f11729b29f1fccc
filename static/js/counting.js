// Counts a board of spread: pods land in the stacks of their domains, then the fewest are marked, then the limit, then what
// the pod would add, with the skew. The server has drawn and written all of that: this module only shows it in order.

const LAND = [{ opacity: 0, transform: 'translateY(-12px)' }, { opacity: 1, transform: 'none' }];
const APPEAR = [{ opacity: 0 }, { opacity: 1 }];
const LAND_MS = 180;
const POD_MS = 260; // from one pod to the next, if all of them take less than PODS_MS
const PODS_MS = 6000;
const STEP_MS = 1100; // from one step to the next
const STEPS = { fewest: '.sk-min, .tp-few', limit: '.sk-limit', skew: '.sk-would, .sk-over, .tp-v' };
const calm = matchMedia('(prefers-reduced-motion: reduce)');

let now = null; // the board that is being counted: `shown`: animations, `timers`, `counts`: cell → its `number`, and what is `written`

function face(button, counting) {
  button.setAttribute('aria-pressed', String(counting));
  button.querySelector('use').setAttribute('href', counting ? '#i-last' : '#i-play');
}

/** Write a number into a cell, unless an update has written another one. */
function put(cell, count, text) {
  if (cell.textContent !== count.written) return;
  cell.textContent = count.written = text;
}

/** Show the end, as the server drew it. */
function finish() {
  if (!now) return;
  const { button, shown, timers, counts } = now;
  now = null;
  for (const timer of timers) clearTimeout(timer);
  for (const animation of shown) animation.cancel();
  for (const [cell, count] of counts) put(cell, count, count.number);
  face(button, false);
}

function begin(button, board) {
  const rows = [...board.querySelectorAll('tbody tr[data-counted]')];
  const line = board.querySelector('[role="status"]');
  const sentence = (step) => board.querySelector(`[data-step="${step}"]`)?.textContent ?? '';
  if (calm.matches) {
    line.textContent = [...rows.map((row) => row.dataset.counted), ...Object.keys(STEPS).map(sentence)].join(' ');
    return;
  }
  now = { button, shown: [], timers: [], counts: new Map() };
  face(button, true);
  const later = (act, at) => now.timers.push(setTimeout(act, at));
  const show = (elements, frames, at) => {
    for (const element of elements) now.shown.push(element.animate(frames, { delay: at, duration: LAND_MS, easing: 'ease-out', fill: 'backwards' }));
  };
  const each = Math.min(POD_MS, PODS_MS / board.querySelectorAll('.sk-pod').length);
  let at = 0;
  for (const row of rows) {
    const [cell, pods] = [row.querySelector('td.n'), [...row.querySelectorAll('.sk-pod')]];
    const count = { number: cell.textContent, written: cell.textContent };
    now.counts.set(cell, count);
    put(cell, count, '0');
    for (const [place, pod] of pods.entries()) {
      show([pod], LAND, at);
      // A long stack is one bar: it lands with its whole number.
      later(() => put(cell, count, place + 1 < pods.length ? String(place + 1) : count.number), at + LAND_MS);
      at += each;
    }
    later(() => { line.textContent = row.dataset.counted; }, at);
  }
  for (const [step, drawn] of Object.entries(STEPS)) {
    at += STEP_MS;
    show(board.querySelectorAll(`[data-step="${step}"], ${drawn}`), APPEAR, at);
    later(() => { line.textContent = sentence(step); }, at);
  }
  later(finish, at + STEP_MS);
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-count]');
  if (!button) return;
  const again = now?.button !== button;
  finish();
  if (again) begin(button, button.closest('.tp-b'));
});

// What an update changes must not wait for a count.
document.body.addEventListener('htmx:wsBeforeMessage', finish);
