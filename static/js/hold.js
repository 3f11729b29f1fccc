// An update replaces parts of panels. It waits while a hand is on something in a panel, because a click whose button is
// replaced midway does nothing.

const IN_A_PANEL = '[id^="panel-"] *';
const waiting = []; // updates, the oldest first
let held = false;

/** Calls `update` now, or as soon as nothing in a panel is held. */
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
  // A list that drops down swallows the end of its click; the knob of the timeline brings about what it waits for.
  held = button === 0 && target.matches(IN_A_PANEL) && !target.closest('select, #knob');
}, true);
for (const name of ['pointerup', 'pointercancel', 'blur']) window.addEventListener(name, () => setTimeout(letGo)); // after the click or the change that it makes
window.addEventListener('pointermove', ({ buttons }) => { if (held && !buttons) letGo(); }); // it was let go of where nobody saw it
