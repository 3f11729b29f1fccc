// In which rooms this browser is, and as whom, the last one that was opened last. Shape: { id of the room: { path, name, unsent } }
//   path     of the participant's page, which is the key to it
//   unsent   answers that could not be sent yet: { number of the question: { chosen, page, turn } }

import { read, write } from './storage.js';

const KEY = 'rooms';
const TURN = 'answer-turn';
const MOST = 20;

function all() {
  try {
    const found = JSON.parse(read(KEY) ?? '{}');
    return found && typeof found === 'object' && !Array.isArray(found) ? found : {};
  } catch { return {}; } // Somebody else has written there: it counts as nothing.
}

/** { path, name, unsent } of this browser in a room, if it was there. */
export const known = (room) => all()[room];

/** Remember it; false where the browser keeps nothing. What somebody else has not sent is dropped. */
export function remember(room, path, name, unsent) {
  const { [room]: before, ...others } = all();
  const kept = unsent ?? (before?.path === path ? before.unsent : undefined) ?? {};
  write(KEY, JSON.stringify(Object.fromEntries([...Object.entries(others), [room, { path, name, unsent: kept }]].slice(-MOST))));
  return known(room)?.path === path;
}

export function forget(room) {
  const { [room]: _, ...others } = all();
  write(KEY, JSON.stringify(others));
}

let last = { page: Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join(''), turn: 0 };

/** { page, turn } of the next answer. All tabs of a browser count together, where it keeps anything. */
export function nextTurn() {
  try {
    const { page, turn } = JSON.parse(read(TURN));
    if (typeof page === 'string' && Number.isInteger(turn)) last = { page, turn };
  } catch { /* Nothing is kept, or somebody else has written there: this page counts for itself. */ }
  last = { page: last.page, turn: last.turn + 1 };
  write(TURN, JSON.stringify(last));
  return last;
}
