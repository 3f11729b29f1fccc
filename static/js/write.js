// Write a lesson: its text in an editor, and beside it the lesson that runs, anew after each change that holds.

import { annotate, goTo, yamlEditor } from './editor.js';
import { filesInto, save } from './files.js';
import { fragment, noAnswer, refusal, toast } from './no-answer.js';
import { read, write } from './storage.js';

const PAUSE_MS = 400; // after the last letter
const LOOK_MS = 300; // between two looks at the file
const byId = (id) => document.getElementById(id);
const page = byId('write');
const area = byId('write-text');
const errors = byId('write-errors');
const outline = byId('write-outline');
const notice = byId('notice');
const original = byId('write-original').content.textContent;
const DRAFT = `lesson-draft:${page.dataset.start}`;
const follows = Boolean(page.dataset.file);

let editor = null;
let frame = null; // the lesson in view
let coming = null; // one that still loads, and its part
let ran = null; // the last text that was sent
let wanted = null; // the part to show next, null = the one in view
let running = false;
let pause = 0;

const partInView = () => coming?.part ?? Number(frame?.contentDocument?.getElementById('panel-lesson')?.dataset.part ?? 0);

function put(text) {
  area.value = text;
  if (editor) editor.session.doc.setValue(text); // This can be undone.
  changed();
}

function changed() {
  if (!follows) {
    write(DRAFT, area.value === original ? '' : area.value);
    byId('write-over').hidden = area.value === original;
  }
  clearTimeout(pause);
  pause = setTimeout(run, follows ? 0 : PAUSE_MS);
}

/** Send the text, one request after the other: the last text and the last choice of a part count. */
async function run() {
  const text = area.value;
  if (running || (text === ran && wanted === null)) return;
  const part = wanted ?? partInView();
  running = true;
  [ran, wanted] = [text, null];
  page.setAttribute('aria-busy', 'true');
  try { await exchange(text, part); } finally {
    running = false;
    page.removeAttribute('aria-busy');
  }
  if (ran !== null && (area.value !== ran || wanted !== null)) run();
}

async function exchange(text, part) {
  let answer;
  try { answer = await fetch(page.dataset.run, { method: 'POST', body: new URLSearchParams({ text, part }) }); } catch {
    ran = null; // The next change sends it again.
    notice.replaceChildren(noAnswer());
    return;
  }
  const responseText = await answer.text();
  const content = fragment(responseText);
  if (content.querySelector('[data-errors]')) {
    errors.replaceChildren(content);
    errors.classList.toggle('is-first', !frame);
    annotate(editor, errors);
    return;
  }
  notice.replaceChildren(...(answer.ok ? [] : [refusal({ status: answer.status, responseText })]));
  const wait = Number(answer.headers.get('Retry-After'));
  if (wait) {
    ran = null;
    clearTimeout(pause);
    pause = setTimeout(run, 1000 * wait);
  }
  if (!answer.ok) return;
  errors.replaceChildren();
  editor?.session.clearAnnotations();
  const { dataset: { address, api }, children } = content.firstElementChild;
  outline.replaceChildren(...children);
  show(address, api, part);
}

/** Delete a sandbox that is no longer in view. If that fails, the site deletes it later as unused. */
function remove(old) {
  old.remove();
  fetch(old.dataset.api, { method: 'DELETE' }).catch(() => {});
}

/** Put a sandbox into view when it has loaded, in place of the one before. */
function show(address, api, part) {
  if (coming) remove(coming.frame);
  const next = Object.assign(document.createElement('iframe'), { title: page.querySelector('.wr-r').getAttribute('aria-label'), src: address, className: 'is-behind' });
  Object.assign(next.dataset, { inRoom: 'write', api });
  coming = { frame: next, part };
  next.addEventListener('load', () => {
    const before = frame;
    [frame, coming] = [next, null];
    page.dataset.base = new URL(address, location.href).pathname; // The editor completes names of its cluster.
    next.classList.remove('is-behind');
    byId('write-wait').hidden = true;
    if (before) remove(before);
    new MutationObserver(mark).observe(next.contentDocument.body, { subtree: true, childList: true, attributeFilter: ['data-part'] });
    mark();
  }, { once: true });
  page.querySelector('.wr-f').append(next);
}

function mark() {
  const part = String(partInView());
  for (const button of outline.querySelectorAll('button')) {
    if (button.dataset.part === part) button.setAttribute('aria-current', 'step');
    else button.removeAttribute('aria-current');
  }
}

outline.addEventListener('click', ({ target }) => {
  const button = target.closest('button');
  if (!button) return;
  goTo(editor, { line: button.dataset.line, column: 1 });
  button.focus();
  wanted = Number(button.dataset.part);
  run();
});
errors.addEventListener('click', ({ target }) => {
  const row = target.closest('.err-go');
  if (row) goTo(editor, row.dataset);
});

let tag = ''; // of the file's last text
let told = ''; // what is wrong with the file: the answer about it, or 'lost'

/** Show once what is wrong with the file, and take it away when nothing is. */
function tell(words, content) {
  if (words !== told) notice.replaceChildren(...(words ? [content] : []));
  told = words;
}

async function look() {
  try {
    const answer = await fetch(page.dataset.file, { headers: tag ? { 'If-None-Match': tag } : {}, cache: 'no-store' });
    const text = await answer.text();
    if (answer.ok) {
      tag = answer.headers.get('ETag');
      const at = editor?.getCursorPosition();
      put(text);
      if (at) editor.moveCursorToPosition(at);
    }
    const fine = answer.ok || answer.status === 304;
    tell(fine ? '' : text, fine ? null : refusal({ status: answer.status, responseText: text }));
  } catch { tell('lost', noAnswer()); }
  setTimeout(look, LOOK_MS);
}

byId('write-start').addEventListener('change', ({ target }) => target.form.submit());
if (!follows) {
  byId('write-save').addEventListener('click', () => save(new Blob([area.value], { type: 'application/yaml' }), `${page.dataset.start || 'lesson'}.yaml`));
  byId('write-over').addEventListener('click', () => { put(original); editor?.focus(); });
  filesInto(byId('write-box'), byId('write-file'), Number(page.dataset.most), put, (words) => notice.replaceChildren(toast(words)));
  area.value = read(DRAFT) || original;
  byId('write-over').hidden = area.value === original;
}
notice.addEventListener('click', ({ target }) => { if (target.closest('[data-do="dismiss"]')) notice.replaceChildren(); });
area.addEventListener('input', changed);
if (follows) look();
else run();
editor = await yamlEditor(page, 'write-editor', area, { kind: page.dataset.kind });
editor.setReadOnly(follows);
editor.session.on('change', changed);
annotate(editor, errors);
