// What an editor knows about fields: it completes keys and values, and explains the field at the cursor.

import { fieldAt, offersAt } from './schema.js';
import { placeAt } from './yaml-place.js';
import { say } from './words.js';

const LONGEST = 20_000; // lines; a longer text would make typing slow
const LETTERS = /[^\s:,[\]{}"'#]/;
const VERSION = /^kubernetes:\s*["']?(v[\d.]+)/m;
const HOVER_MS = 350;
const KEYS = { space: '<kbd>Ctrl</kbd> <kbd>Space</kbd>', help: '<kbd>F1</kbd>', tab: '<kbd>Tab</kbd>' };

const schemas = new Map(); // address → the schema of a version of Kubernetes

/** Return the fields that a version has: the sandbox's, which somebody may change, or the one that the text names. */
function fields(app, editor) {
  const known = JSON.parse(app.dataset.schemas);
  const version = app.dataset.kubernetes ? VERSION.exec(editor.getValue())?.[1] : document.getElementById('panel-toolbar').dataset.kubernetes;
  const url = known[version] ?? known[app.dataset.kubernetes];
  if (!schemas.has(url)) schemas.set(url, json(url).catch((error) => { schemas.delete(url); throw error; }));
  return schemas.get(url);
}

async function json(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} could not be read`);
  return answer.json();
}

/** The tables of the cluster, loaded when first needed, and again after `forget` or for another sandbox; none without one. */
function tables(app) {
  let [known, of] = [null, ''];
  return {
    get() {
      const { base } = app.dataset;
      if (!base) return {};
      if (base !== of) [known, of] = [null, base];
      known ??= json(`${base}offers/`).catch(() => { known = null; return {}; });
      return known;
    },
    forget() { known = null; },
  };
}

function place(editor, { row, column }) {
  const { doc } = editor.session;
  return doc.getLength() > LONGEST ? null : placeAt(doc.getAllLines(), row, column);
}

/** Return whether the cursor is still in the word at this position. */
function isAt(editor, { row, column }) {
  const now = editor.getCursorPosition();
  const typed = editor.session.getLine(row).slice(column, now.column);
  return now.row === row && now.column >= column && [...typed].every((letter) => LETTERS.test(letter));
}

function describe({ path, shown, says }) {
  const element = document.createElement('span');
  const parts = [['b', path], ['i', shown], ['span', says ?? '']];
  for (const [tag, text] of parts.filter(([, each]) => each)) {
    if (element.childNodes.length) element.append(' ');
    element.append(Object.assign(document.createElement(tag), { textContent: text }));
  }
  return element;
}

/** Ace asks this for the offers at the cursor. */
function completer(app, cluster, kind) {
  return {
    identifierRegexps: [LETTERS],
    async getCompletions(editor, session, position, prefix, answer) {
      const known = await fields(app, editor).catch(() => null);
      const here = known && place(editor, position);
      const names = here ? await cluster.get() : {};
      // Somebody who typed on may be elsewhere by now: there, Enter must not put in what was offered here.
      const offers = here && isAt(editor, position) ? offersAt(known, names, here, kind) : [];
      const typing = editor.completer.autoShown;
      answer(null, offers.filter(({ live }) => live || !typing).map(({ caption, text, shown, says, more, rank }) => (
        { caption, value: text, meta: shown, docText: says, score: rank, command: more ? 'startAutocomplete' : undefined })));
    },
  };
}

/** Show a line under the editor: the field at the cursor, else the keys. Return a function that reads it aloud. */
function line(app, editor, kind) {
  const box = Object.assign(document.createElement('p'), { className: 'ed-line quiet', id: `${editor.container.id}-line` });
  const says = Object.assign(document.createElement('span'), { className: 'vh' });
  says.setAttribute('role', 'status');
  const keys = Object.assign(document.createElement('span'), { className: 'ed-keys', innerHTML: say('script.editor-keys', KEYS) });
  const field = Object.assign(document.createElement('span'), { className: 'ed-field' });
  box.append(field, keys);
  editor.container.after(box, says);
  editor.textInput.getElement().setAttribute('aria-describedby', box.id);
  let known = null;
  const look = () => {
    const here = known && fieldAt(known, place(editor, editor.getCursorPosition()), kind);
    field.replaceChildren(...(here ? [describe(here)] : []));
    return here;
  };
  const load = () => fields(app, editor).then((loaded) => { known = loaded; look(); }, () => { field.textContent = say('script.fields-unknown'); });
  load();
  editor.on('focus', load); // The version may have changed since.
  editor.on('changeSelection', look);
  return () => { const here = look(); says.replaceChildren(here ? describe(here) : say('script.field-unknown')); return here; };
}

/** Show a note at the field under the pointer, or by a key at the cursor. */
function notes(app, editor, kind, announce) {
  const { HoverTooltip } = window.ace.require('ace/tooltip');
  const { Range } = window.ace.require('ace/range');
  const note = new HoverTooltip();
  note.idleTime = HOVER_MS;
  note.getElement().classList.add('ed-note');
  const show = (about, { row, column }, event) => {
    const range = editor.session.getWordRange(row, column);
    note.showForRange(editor, range.isEmpty() ? new Range(row, column, row, column + 1) : range, describe(about), event);
  };
  note.setDataProvider(async (event) => {
    const at = event.getDocumentPosition();
    if (at.column >= editor.session.getLine(at.row).length) return;
    const known = await fields(app, editor).catch(() => null);
    const here = known && fieldAt(known, place(editor, at), kind);
    if (here) show(here, at, event);
  });
  note.addToEditor(editor);
  editor.commands.addCommand({
    name: 'explainField',
    bindKey: 'F1',
    readOnly: true,
    exec: () => { const here = announce(); if (here) show(here, editor.getCursorPosition()); },
  });
}

/** `kind`: of documents that do not name theirs. */
export function assist(app, editor, kind) {
  const cluster = tables(app);
  editor.setOptions({ enableBasicAutocompletion: [completer(app, cluster, kind)], enableLiveAutocompletion: true });
  editor.container.closest('dialog')?.addEventListener('close', cluster.forget);
  notes(app, editor, kind, line(app, editor, kind));
}
