// A YAML editor over a plain text area. Ace is large: it is loaded when an editor is first shown.

import { assist } from './completion.js';
import { load } from './script.js';

/** Put Ace into the element `id`. It edits the text of `area`. `kind`: of documents that do not name theirs. */
export async function yamlEditor(app, id, area, { kind = '' } = {}) {
  await load(app.dataset.ace);
  await Promise.all([load(app.dataset.aceYaml), load(app.dataset.aceTools)]);
  const { ace } = window;
  ace.config.set('basePath', app.dataset.ace.replace(/\/[^/]*$/, ''));
  ace.config.set('loadWorkerFromBlob', false);
  const editor = ace.edit(id);
  editor.setOptions({ useWorker: false, mode: 'ace/mode/yaml', tabSize: 2, showPrintMargin: false, fontSize: `${0.75 * parseFloat(getComputedStyle(document.documentElement).fontSize)}px`, useSoftTabs: true });
  editor.commands.removeCommand('indent'); // Tab must leave the editor, for people without a mouse.
  editor.commands.removeCommand('outdent');
  editor.textInput.getElement().setAttribute('aria-label', area.getAttribute('aria-label'));
  editor.session.setValue(area.value);
  editor.session.on('change', () => { area.value = editor.getValue(); });
  area.classList.add('vh');
  area.tabIndex = -1;
  assist(app, editor, kind);
  return editor;
}

/** Mark the lines of the problems in `list`, as errors or as their `data-kind`. */
export function annotate(editor, list) {
  const rows = [...list.querySelectorAll('[data-line]')].filter((row) => Number(row.dataset.line) > 0);
  editor?.session.setAnnotations(rows.map(({ dataset, lastElementChild }) => ({
    row: Number(dataset.line) - 1,
    column: Math.max(0, Number(dataset.column) - 1),
    text: lastElementChild.textContent.trim().replace(/\s+/g, ' '),
    type: dataset.kind ?? 'error',
  })));
}

export function goTo(editor, { line, column }) {
  if (Number(line) > 0) editor?.gotoLine(Number(line), Math.max(0, Number(column) - 1));
  editor?.focus();
}
