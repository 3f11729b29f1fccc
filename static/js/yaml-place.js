// The place of the cursor in a YAML text. It reads only the indentation, so that an incomplete text works.

const KEY = /^("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'#[\]{},][^#]*?)\s*:(?=\s|$)/;
const DASH = /^-(?=\s|$)\s*/;
const END = /^---(?=\s|$)/;
const BLOCK = /^[|>][-+0-9]*\s*(#.*)?$/;
const NOTHING = /^\s*(#|$)/;
const LONGEST_KEY = 1000; // looking for the end of a longer one would take too long
const NOTE = /(^|\s)#/;

const indent = (line) => line.length - line.trimStart().length;
const bare = (text) => text.trim().replace(/^(["'])(.*)\1$/, '$2');

/** Return the dashes and the key at the start of a line, each with its column; `rest`: where they end. */
function read(line) {
  const dashes = [];
  let column = indent(line);
  for (let dash = DASH.exec(line.slice(column)); dash; dash = DASH.exec(line.slice(column))) {
    dashes.push({ column, dash: true });
    column += dash[0].length;
  }
  const key = KEY.exec(line.slice(column, column + LONGEST_KEY));
  if (!key) return { dashes, column, entry: null, rest: column };
  const rest = column + key[0].length;
  return { dashes, column, entry: { column, key: bare(key[1]), value: bare(line.slice(rest).replace(NOTE, '\n').split('\n')[0]) }, rest };
}

function leave(stack, { column, dash }) {
  for (let top = stack.at(-1); top.column > column || (top.column === column && !(dash && !top.dash)); top = stack.at(-1)) stack.pop();
}

/** `stack`: the frames around the place. Each has its keys, and `owner`: the keys beside it. */
function enter(stack, { column, dash = false, key, value }) {
  leave(stack, { column, dash });
  const owner = stack.at(-1).keys;
  if (!dash) owner.set(key, value);
  stack.push({ column, dash, key, owner, keys: new Map() });
}

function bounds(lines, row) {
  let [first, last] = [row, row];
  while (first > 0 && !END.test(lines[first - 1])) first -= 1;
  while (last + 1 < lines.length && !END.test(lines[last + 1])) last += 1;
  return [first, last];
}

/** Return the braces and brackets still open at the end of `typed`, on top of `stack`; null if there are none. */
function flow(stack, typed) {
  const frames = [...stack];
  const open = []; // each: is it a mapping, and how many frames are around it
  let [word, quote] = ['', ''];
  const item = () => frames.push({ dash: true, owner: frames.at(-1).keys, keys: new Map() });
  const setValue = () => { const top = frames.at(-1); if (top.key !== undefined) top.owner.set(top.key, bare(word)); };
  for (const [at, sign] of [...typed].entries()) {
    const inner = open.at(-1);
    if (quote || sign === '"' || sign === "'") {
      quote = quote === sign ? '' : quote || sign;
      word += sign;
    } else if (sign === '{' || sign === '[') {
      open.push({ map: sign === '{', depth: frames.length });
      if (sign === '[') item();
      word = '';
    } else if (!inner) {
      return null;
    } else if (sign === ':' && inner.map && frames.length === inner.depth && /^\s?$/.test(typed[at + 1] ?? '')) {
      frames.push({ key: bare(word), owner: frames.at(-1).keys, keys: new Map() });
      word = '';
    } else if (',}]'.includes(sign)) {
      if (inner.map && frames.length > inner.depth) setValue();
      frames.length = inner.depth;
      if (sign !== ',') open.pop();
      else if (!inner.map) item();
      word = '';
    } else word += sign;
  }
  const inner = open.at(-1);
  return inner && { frames, at: inner.map && frames.length === inner.depth ? 'key' : 'value' };
}

function placeOf(stack, at, more) {
  return { at, steps: stack.slice(1), keys: stack.at(-1).keys, root: stack[0].keys, flow: false, dashed: false, ...more };
}

/** Return the place in the line of the cursor. Its keys join the stack. */
function inLine(stack, line, column) {
  const { dashes, column: starts, entry, rest } = read(line);
  if (NOTE.test(line.slice(0, column)) && !/["']/.test(line.slice(0, column))) return null;
  if (dashes.length === 0 && column < starts && line.trim()) return null;
  const here = line.slice(starts).trim() ? starts : column;
  for (const dash of dashes) enter(stack, dash);
  const more = { column: here, dashed: dashes.length > 0, key: entry?.key };
  if (entry && column >= rest) {
    enter(stack, entry);
    return inValue(stack, line.slice(rest, column), more);
  }
  if (column < here) return null;
  leave(stack, { column: here });
  if (!entry && /^\s*[[{]/.test(line.slice(here, column))) return inValue(stack, line.slice(here, column), more);
  const place = placeOf(stack, 'key', { ...more, colon: entry !== null });
  if (entry) {
    const known = place.keys.get(entry.key);
    enter(stack, entry);
    if (known === undefined) place.keys.delete(entry.key);
  }
  return place;
}

function inValue(stack, typed, more) {
  if (!/^\s*[[{]/.test(typed)) return placeOf(stack, 'value', { ...more, tight: typed === '' });
  const inside = flow(stack, typed.trimStart());
  return inside && placeOf(inside.frames, inside.at, { ...more, key: undefined, flow: true }); // The key of the line is around it.
}

/**
 * Return the place at a row and a column, which count from 0; null in a comment or a block of text.
 *
 * `at`: 'key' or 'value'; `steps`: the keys ({key}) and items ({dash}) around it, each with its `owner`: the keys beside it;
 * `keys`: the keys beside a written key; `root`: those of the whole document. `key`: that of the line; `colon`: it is
 * complete; `tight`: no space follows yet; `dashed`: the line begins an item; `column`: where it begins.
 */
export function placeAt(lines, row, column) {
  const [first, last] = bounds(lines, row);
  const stack = [{ column: -1, keys: new Map() }];
  let place = null;
  let block = null; // the column of the key of a block of text
  for (let at = first; at <= last; at += 1) {
    const line = lines[at];
    if (END.test(line)) continue;
    const empty = !line.trim();
    const deep = empty ? at !== row || column > block : indent(line) > block;
    if (block !== null && deep) {
      if (at === row) return null;
      continue;
    }
    block = null;
    if (at === row) place = inLine(stack, line, column);
    else if (!NOTHING.test(line)) for (const entry of entries(line)) enter(stack, entry);
    const { entry, rest } = read(line);
    if (entry && BLOCK.test(line.slice(rest).trim())) block = entry.column;
  }
  return place;
}

function entries(line) {
  const { dashes, entry } = read(line);
  return entry ? [...dashes, entry] : dashes;
}

/** Return the steps as a path of Kubernetes: `spec.tolerations[].effect`. */
export const pathOf = (steps) => steps.map(({ dash, key }) => (dash ? '[]' : `.${key}`)).join('').replace(/^\./, '');
