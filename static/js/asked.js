// On a page of a participant the question to the room and the questions to the trainer fold to one line each. One of them is
// open at a time, so that the sandbox keeps its place.

const small = matchMedia('(max-width: 760px), (max-height: 30rem)');
const SECOND_TAP = 600; // milliseconds: the second tap on a button must not hit the sandbox that has come under it
const byId = (id) => document.getElementById(id);
let state = ''; // of the question: its number, then asked, or answered and when, or over

/** Return true if a frame has an open form or a field with typed text. */
export function types(frame) {
  const inside = frame?.contentDocument;
  return Boolean(inside?.querySelector('dialog[open]')) || hasTyped(inside?.activeElement);
}

const hasTyped = (field) => Boolean(field?.matches('input:not([type="radio"], [type="checkbox"]), textarea') && field.value !== field.defaultValue);

/** Unfold a new question and fold an answered one, but leave all as it is while somebody types in it, or elsewhere. */
export function foldAsked() {
  const box = byId('asked-box');
  const now = box?.dataset.state ?? '';
  if (now === state) return;
  const first = !state;
  state = now;
  if (!box) return;
  const typed = [document.activeElement, ...document.querySelectorAll('.line[open] .inp')].find(hasTyped);
  const opens = now.endsWith('asked') || now.endsWith('over') && !small.matches;
  if (typed ? box.contains(typed) : opens && !types(byId('desk-own'))) box.open = true;
  else fold(box, !first);
}

/** Fold the question. `guards`: the next tap would hit what comes under it. */
function fold(box, guards) {
  if (box.contains(document.activeElement)) box.querySelector('summary').focus({ preventScroll: true });
  box.open = false;
  if (!guards) return;
  const desk = byId('desk');
  desk.classList.add('is-moved');
  setTimeout(() => desk.classList.remove('is-moved'), SECOND_TAP);
}

/** Start. */
export function keepFolds() {
  byId('room').addEventListener('toggle', ({ target }) => {
    if (target.matches('.line[open]')) for (const other of document.querySelectorAll('.line[open]')) if (other !== target) other.open = false;
  }, true);
}
