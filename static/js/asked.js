// On a page of a participant the question to the room and the questions to the trainer fold to one line each. On a small
// screen one of them is open at a time, so that the sandbox keeps its place.

import { whenFree } from './hold.js';

const small = matchMedia('(max-width: 760px), (max-height: 30rem)');
const SECOND_TAP = 600; // milliseconds: the second tap on a button must not hit the sandbox that has come under it
const byId = (id) => document.getElementById(id);
let state = ''; // of the question: its number, and asked, answered or over

/** Return true if a frame has an open form or a field with typed text. */
export function types(frame) {
  const inside = frame?.contentDocument;
  return Boolean(inside?.querySelector('dialog[open]')) || hasTyped(inside?.activeElement);
}

const hasTyped = (field) => Boolean(field?.matches('input:not([type="radio"], [type="checkbox"]), textarea') && field.value !== field.defaultValue);

/** Fold and unfold what the room asks, but leave it alone while somebody types in it or, on a small screen, elsewhere. */
export function foldAsked() {
  const box = byId('asked-box');
  const now = box?.dataset.state ?? '';
  if (now === state) return;
  state = now;
  if (!box) return;
  if (box.contains(document.activeElement) && hasTyped(document.activeElement)) box.open = true;
  else if (now.endsWith('asked')) box.open = !small.matches || !(hasTyped(document.activeElement) || types(byId('desk-own')));
  else if (now.endsWith('over') && !small.matches) box.open = true;
  else fold(box);
}

function fold(box) {
  if (box.contains(document.activeElement)) box.querySelector('summary').focus({ preventScroll: true });
  box.open = false;
  const desk = byId('desk');
  desk.classList.add('is-moved');
  setTimeout(() => desk.classList.remove('is-moved'), SECOND_TAP);
}

/** Start. */
export function keepFolds() {
  const boxes = () => [byId('asked-box'), byId('inquiries-box')].filter((box) => box?.open);
  const one = (kept) => { if (small.matches) for (const box of boxes()) if (box !== kept) box.open = false; };
  byId('room').addEventListener('toggle', ({ target }) => { if (boxes().includes(target)) one(target); }, true);
  small.addEventListener('change', () => one(boxes().find((box) => box.contains(document.activeElement)) ?? boxes()[0]));
  document.addEventListener('answer-sent', () => whenFree(() => { if (state.endsWith('answered')) fold(byId('asked-box')); }));
}
