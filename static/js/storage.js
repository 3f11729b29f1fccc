// localStorage; a browser that refuses it only forgets.

export const read = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
export const write = (key, value) => { try { localStorage.setItem(key, value); } catch { return; } };

/** Return the object under a key; {} if there is none, or if something else was written there. */
export function readObject(key) {
  try {
    const value = JSON.parse(read(key) ?? '{}');
    return value && typeof value === 'object' && !Array.isArray(value) ? value : {};
  } catch { return {}; }
}
