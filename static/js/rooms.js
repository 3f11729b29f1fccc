// In which rooms this browser is, and as whom. Shape: { id of the room: { path, name } }, the last one that was opened last.
// The path of a participant's page is the key to it.

import { read, write } from './storage.js';

const KEY = 'rooms';
const MOST = 20;

function all() {
  try {
    const found = JSON.parse(read(KEY) ?? '{}');
    return found && typeof found === 'object' && !Array.isArray(found) ? found : {};
  } catch { return {}; } // Somebody else has written there: it counts as nothing.
}

/** { path, name } of this browser's page in a room, if it has one. */
export const known = (room) => all()[room];

/** Remember it; false where the browser keeps nothing. */
export function remember(room, path, name) {
  const { [room]: _, ...others } = all();
  write(KEY, JSON.stringify(Object.fromEntries([...Object.entries(others), [room, { path, name }]].slice(-MOST))));
  return known(room)?.path === path;
}

export function forget(room) {
  const { [room]: _, ...others } = all();
  write(KEY, JSON.stringify(others));
}
