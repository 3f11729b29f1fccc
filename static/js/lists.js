// Which page of which list is looked at, and in which order it stands: `name:value` items, as the server reads them.

const MOST = 16; // the server reads no more; the ones turned first start from the beginning again

/** The items with a list's value put last, or without it when it is the usual one. */
export function put(items, name, value) {
  const held = new Map(items.split(' ').filter(Boolean).map((item) => item.split(':')));
  held.delete(name);
  if (value) held.set(name, value);
  return [...held].slice(-MOST).map((item) => item.join(':')).join(' ');
}
