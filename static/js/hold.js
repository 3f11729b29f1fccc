// An update waits while the pointer is down in a panel, or on a page of a room: a click does nothing if its button is replaced
// midway.

const UPDATED = '[id^="panel-"] *, #room *';
const waiting = []; // updates, the oldest first
let held = false;

/** Call `update` now, or once the pointer is up. */
export function whenFree(update) {
  waiting.push(update);
  goOn();
}

function goOn() {
  while (waiting.length && !held) waiting.shift()();
}

function letGo() {
  held = false;
  goOn();
}

document.addEventListener('pointerdown', ({ target, button }) => {
  // A drop-down list hides the end of its click; the knob of the timeline itself causes updates.
  held = button === 0 && target.matches(UPDATED) && !target.closest('select, #knob');
}, true);
for (const name of ['pointerup', 'pointercancel', 'blur']) window.addEventListener(name, () => setTimeout(letGo)); // after the click or change event
window.addEventListener('pointermove', ({ buttons }) => { if (held && !buttons) letGo(); }); // it was released outside of the page
