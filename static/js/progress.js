// How far somebody is in each lesson, kept in this browser alone.
// An entry: {part, parts, done, url} and, of a challenge, best = what its cheapest solution cost.

import * as storage from './storage.js';

const KEY = 'lessons';

export function read() {
  try {
    const found = JSON.parse(storage.read(KEY) ?? '{}');
    return found && typeof found === 'object' && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}

export function write(slug, entry) {
  storage.write(KEY, JSON.stringify({ ...read(), [slug]: entry }));
}
