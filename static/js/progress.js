// What this browser has done in the lessons. Shape: { slug: { part, parts, done, at, best } }
//   part   number of parts that are done (0 … parts)   done   whether the end was reached once
//   at     path of the last sandbox of the lesson      best   lowest cost of a challenge so far

import { readObject, write } from './storage.js';

const KEY = 'lessons';

export const progress = () => readObject(KEY);

/** Save how far a lesson is. What was done once stays done. */
export function saveProgress(slug, { part, parts, done, at, cost }) {
  const all = progress();
  const costs = [cost, all[slug]?.best].filter((each) => each !== undefined).map(Number);
  all[slug] = { part, parts, done: Boolean(done || all[slug]?.done), at, ...(costs.length ? { best: Math.min(...costs) } : {}) };
  write(KEY, JSON.stringify(all));
}
