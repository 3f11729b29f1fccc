// In which rooms this browser is, and as whom, the last one that was opened last. Shape: { id of the room: { path, name, unsent, page, turn } }
//   path     of the participant's page, which is the key to it
//   unsent   answers that could not be sent yet: { number of the question: { chosen, page, turn } }
//   page     how this browser calls itself there, in all of its tabs; turn counts the answers that it gave

import { read, write } from './storage.js';

const KEY = 'rooms';
const MOST = 20;

function all() {
  try {
    const found = JSON.parse(read(KEY) ?? '{}');
    return found && typeof found === 'object' && !Array.isArray(found) ? found : {};
  } catch { return {}; } // Somebody else has written there: it counts as nothing.
}

/** What is kept of this browser in a room, if it was there. */
export const known = (room) => all()[room];

/** Remember it; false where the browser keeps nothing. What somebody else has not sent is dropped. */
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

let last = { page: Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join(''), turn: 0 };

/** { page, turn } of the next answer in a room. Where the browser keeps nothing, this page counts for itself. */
export function nextTurn(room) {
  const { [room]: here, ...others } = all();
  if (here?.turn >= last.turn) last = { page: here.page, turn: here.turn }; // another tab was there
  last = { ...last, turn: last.turn + 1 };
  if (here) keep(others, room, { ...here, ...last });
  return last;
}
