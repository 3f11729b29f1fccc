// An update replaces parts of panels. It waits while a hand is on something in a panel, because a click whose button is
// replaced midway does nothing, and until what was asked there is answered, because the answer would find no place.

const IN_A_PANEL = '[id^="panel-"] *';
const waiting = []; // updates, the oldest first
let held = false;
let asked = 0; // requests under way

/** Calls `update` now, or as soon as nothing in a panel is held and nothing is asked there. */
export function whenFree(update) {
  waiting.push(update);
  goOn();
}

function goOn() {
  while (waiting.length && !held && !asked) waiting.shift()();
}

function letGo() {
  held = false;
  goOn();
}

document.addEventListener('pointerdown', ({ target, button }) => {
  // A list that drops down swallows the end of its click; the knob of the time line brings about what it waits for.
  held = button === 0 && target.matches(IN_A_PANEL) && !target.closest('select, #knob');
}, true);
for (const name of ['pointerup', 'pointercancel', 'blur']) window.addEventListener(name, () => setTimeout(letGo)); // after the click or the change that it makes
window.addEventListener('pointermove', ({ buttons }) => { if (held && !buttons) letGo(); }); // it was let go of where nobody saw it

document.addEventListener('htmx:beforeSend', ({ target, detail: { xhr } }) => {
  if (!target.matches(IN_A_PANEL)) return;
  asked += 1;
  xhr.addEventListener('loadend', () => { asked -= 1; goOn(); });
});
