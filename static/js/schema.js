// The offers of the schema and the cluster's tables at a place of a manifest (yaml-place.js), and the meaning of fields.

import { pathOf } from './yaml-place.js';

const UNKNOWN = 'Object'; // the fields that every object has
const ANY = '*'; // an object of any kind
const SPECIAL = /^(true|false|yes|no|on|off|y|n|null|~)$|^[-+.\d]|^[-?:,[\]{}#&*!|>'"%@`]|: |\s#|^$/i;

const kindOf = (schema, place, kind) => schema.kinds[place.root.get('kind')] ?? schema.kinds[kind];

/** Return the type of an object with these keys: one of them may say which of several it is. */
function typeOf(schema, type, keys) {
  const choices = schema.choices?.[type] ?? {};
  return choices[[...keys.keys()].find((key) => key in choices)] ?? type;
}

function within(schema, node, { dash, key, owner }) {
  if (dash) return node.holds === 'list' ? node.item ?? { ...node, holds: 'one' } : null;
  if (node.holds === 'map') return { ...node, holds: 'one', of: key };
  const field = node.holds ? schema.types[typeOf(schema, node.type, owner)]?.[key] : undefined;
  if (!field) return null;
  return {
    holds: 'one',
    ...field,
    selects: field.selects ?? node.selects,
    type: field.by?.[owner.get('name')] ?? field.type,
    of: field.part === 'value' ? owner.get('key') : undefined,
  };
}

/** Return the node of a whole object with these keys. Its fields are those of its kind. */
const whole = (schema, root, kind) => ({ type: kindOf(schema, { root }, kind)?.type ?? UNKNOWN, holds: 'one' });

/**
 * Return the field at a place, or an item of it; null if the schema does not know it. `node`: what may be written there.
 * If `field` is a whole object inside a file, that is its kind, and `place` and `kind` are as if it were a text of its own.
 */
function nodeAt(schema, place, kind) {
  const top = whole(schema, place.root, kind);
  let found = { node: top, field: top, place, kind };
  for (const [at, step] of place.steps.entries()) {
    const node = within(schema, found.node, step);
    if (!node) return null;
    const enters = node.embeds && node.holds === 'one';
    found = enters ? inside(schema, node, place.steps.slice(at + 1), place) : { ...found, node, field: node };
  }
  return found;
}

/** Return the node of the object that a field is, and its place. */
function inside(schema, field, steps, place) {
  const kind = field.embeds === ANY ? '' : field.embeds;
  const root = steps[0]?.owner ?? place.keys;
  return { node: whole(schema, root, kind), field, place: { ...place, root, steps }, kind };
}

const table = (node, cluster) => (node.from && cluster[node.selects ?? node.from]) ?? [];

/** Return a text as YAML writes it. */
const written = (text) => SPECIAL.test(text) ? JSON.stringify(text) : text;

const closed = (values) => values.map((value) => ({ value, live: true }));
const open = (values) => values.map((value) => ({ value, live: false }));

function kinds(schema, kind) {
  const alone = schema.kinds[kind]?.alone ?? false;
  return Object.entries(schema.kinds).filter(([, each]) => (each.alone ?? false) === alone);
}

/** The keys of every document → what they offer. */
const HEAD = {
  kind: (schema, place, kind) => kinds(schema, kind).map(([value, { says }]) => ({ value, says, live: true })),
  apiVersion(schema, place, kind) {
    const known = schema.kinds[place.root.get('kind')];
    const versions = known ? known.versions : kinds(schema, kind).flatMap(([, each]) => each.versions);
    return closed([...new Set(versions)]);
  },
};

const heads = (name, { steps }) => steps.length === 0 && name in HEAD;

function values(schema, cluster, place, kind, node) {
  const [first, ...deeper] = place.steps;
  if (place.at === 'value' && first && deeper.length === 0 && first.key in HEAD) return HEAD[first.key](schema, place, kind);
  if (node.values) return closed(node.values);
  if (node.type === 'bool') return closed(['true', 'false']).map((value) => ({ ...value, bare: true }));
  const offers = table(node, cluster);
  if (Array.isArray(offers)) return open(offers);
  return open(node.part === 'key' ? Object.keys(offers) : offers[node.of] ?? []);
}

const isObject = (schema, { type, by, embeds }) => Boolean(type in schema.types || by || embeds);

/** Return what follows a key: a new line if the field has fields or items. */
function opening(schema, field, place, dash) {
  const start = `\n${' '.repeat(place.column + dash.length)}`;
  if (place.colon) return '';
  if (place.flow) return ': ';
  if (field.holds === 'list') return `:${start}- `;
  return field.holds === 'map' || isObject(schema, field) ? `:${start}  ` : ': ';
}

function keys(schema, place, node, dash) {
  const type = typeOf(schema, node.type, place.keys);
  const choices = schema.choices?.[type] ?? {};
  const chosen = [...place.keys.keys()].some((key) => key in choices);
  const free = Object.entries(schema.types[type]).filter(([name]) => !place.keys.has(name) && !(chosen && name in choices));
  return free.map(([name, field], at) => {
    const after = opening(schema, field, place, dash);
    const more = after && (field.values || field.from || field.type === 'bool' || isObject(schema, field) || heads(name, place));
    return { caption: name, text: `${dash}${name}${after}`, shown: field.shown, says: field.says, live: true, more: Boolean(more), rank: rank(name, field, place) - at };
  });
}

/** Equal ranks keep the schema's order; no type has a thousand fields. */
function rank(name, field, place) {
  if (heads(name, place)) return 4000;
  return field.required ? 3000 : field.says ? 2000 : 1000;
}

/** Return the item that a new line would begin here, and its dashes: two in a list of lists. null if it would begin none. */
function begins(schema, { at, dashed, steps }, node) {
  if (at !== 'key' || node.holds !== 'list' || (dashed && !steps.at(-1).dash)) return [null, ''];
  let [item, dash] = [node, ''];
  for (; item.holds === 'list'; dash += '- ') item = within(schema, item, { dash: true });
  return [item, dash];
}

/**
 * Return the offers at a place: `caption`, the `text` to insert, `shown` (a type), `says`, `rank`; `more`: a choice follows;
 * `live`: offer it while somebody types, since nothing else is possible.
 */
export function offersAt(schema, cluster, cursor, ofKind = '') {
  const found = cursor && nodeAt(schema, cursor, ofKind);
  if (!found) return [];
  const [item, dash] = begins(schema, cursor, found.node);
  const { node: here, place, kind } = item?.embeds ? inside(schema, item, [], { ...found.place, keys: new Map() }) : { ...found, node: item ?? found.node };
  if (here.holds === 'one' && here.type in schema.types) return place.at === 'key' ? keys(schema, place, here, dash) : [];
  if (here.holds === 'map') return place.at === 'key' ? names(here, cluster, place) : [];
  if (here.holds === 'list' || (place.at === 'key' && !item && !place.steps.at(-1).dash)) return [];
  const start = place.tight ? ' ' : dash;
  return values(schema, cluster, place, kind, here).map(({ value, says, live, bare }, at) => (
    { caption: value, text: `${start}${bare ? value : written(value)}`, shown: '', says, live, more: false, rank: -at }));
}

/** Return the cluster's keys for a mapping. */
function names(node, cluster, place) {
  const offers = table(node, cluster);
  const free = Object.keys(offers).filter((name) => !place.keys.has(name));
  return free.map((name, at) => ({ caption: name, text: `${written(name)}${place.colon ? '' : ': '}`, shown: '', live: false, more: offers[name].length > 0, rank: -at }));
}

/** Return `path`, `shown` and `says` of the field at a place; null if the schema does not know it. */
export function fieldAt(schema, place, ofKind = '') {
  if (!place) return null;
  const named = place.at === 'key' && place.key !== undefined ? [...place.steps, { key: place.key, owner: place.keys }] : place.steps;
  const known = named.findLastIndex(({ dash }) => !dash);
  const steps = named.slice(0, known + 1);
  if (!steps.length) return null;
  const found = nodeAt(schema, { ...place, steps }, ofKind);
  if (!found) return null;
  const { field } = found;
  const [shown, says] = field.of !== undefined && !field.part ? [field.type, field.says] : [field.shown, field.says];
  const path = found.place.steps.length ? found.place.steps : steps;
  return { path: pathOf(path), shown, says: says ?? headline(schema, found.place, found.kind, path) };
}

const headline = (schema, place, kind, [first, ...deeper]) => first.key === 'kind' && !deeper.length ? kindOf(schema, place, kind)?.says : undefined;
