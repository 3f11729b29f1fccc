// The rooms in which this browser is, the last opened one last. Shape: { id of the room: { path, name, unsent, page, turn } }
//   path     address of the participant's page, which is the key to it
//   unsent   answers that could not be sent yet: { number of the question: { chosen, page, turn } }
//   page     how this browser calls itself there, in all its tabs; turn counts its answers

import { readObject, write } from './storage.js';

const KEY = 'rooms';
const MOST = 20;

const all = () => readObject(KEY);

/** What this browser has stored of a room, if it was there. */
export const known = (room) => all()[room];

/** Store it. Return false if the browser stores nothing. The unsent answers of another participant are dropped. */
export function remember(room, path, name, unsent) {
  const { [room]: before, ...others } = all();
  const kept = before?.path === path ? before : {};
  keep(others, room, { ...kept, path, name, unsent: unsent ?? kept.unsent ?? {} });
  return known(room)?.path === path;
}

const keep = (others, room, here) => write(KEY, JSON.stringify(Object.fromEntries([...Object.entries(others), [room, here]].slice(-MOST))));

export function forget(room) {
  const { [room]: _, ...others } = all();
  write(KEY, JSON.stringify(others));
}

/** A name for this page: the server tells by it who has sent something. */
export const pageName = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join('');
let last = { page: pageName, turn: 0 };

/** Return { page, turn } of the next answer in a room. If the browser stores nothing, this page counts for itself. */
export function nextTurn(room) {
  const { [room]: here, ...others } = all();
  if (here?.turn >= last.turn) last = { page: here.page, turn: here.turn }; // another tab was there
  last = { ...last, turn: last.turn + 1 };
  if (here) keep(others, room, { ...here, ...last });
  return last;
}
