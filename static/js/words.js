// The sentences of the scripts: rows of sandbox/words/en/script.yaml, which the page holds in #words.

const rows = JSON.parse(document.getElementById('words').textContent);

/** Return a sentence with its places filled. A row with `one` and `other` is chosen by `count`. */
export function say(key, places = {}) {
  const row = rows[key];
  const text = typeof row === 'string' ? row : row[places.count === 1 ? 'one' : 'other'];
  return text.replace(/\{(\w+)\}/g, (_, name) => (typeof places[name] === 'number' ? places[name].toLocaleString('en') : places[name]));
}
