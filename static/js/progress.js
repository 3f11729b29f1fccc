// How far this browser has come in the lessons. Shape: { slug: { part, parts, done, at, best } }
//   part   how many parts lie behind (0 … parts)        parts  how many there are
//   done   whether the end was reached once             at     path of the sandbox in which it was learnt last
//   best   of a challenge, what its cheapest solution has cost

import { read as stored, write as store } from './storage.js';

const KEY = 'lessons';

/** All that is known, by the slug of the lesson; {} when nothing is. */
export function read() {
  try {
    const found = JSON.parse(stored(KEY) ?? '{}');
    return found && typeof found === 'object' && !Array.isArray(found) ? found : {};
  } catch { return {}; } // Somebody else has written there: it counts as nothing.
}

/** Note how far one lesson has come; what was done once stays done. */
export function write(slug, { part, parts, done, at, cost }) {
  const all = read();
  const costs = [cost, all[slug]?.best].filter((found) => found !== undefined).map(Number);
  all[slug] = { part, parts, done: Boolean(done || all[slug]?.done), at, ...(costs.length ? { best: Math.min(...costs) } : {}) };
  store(KEY, JSON.stringify(all));
}
