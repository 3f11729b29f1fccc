// Answers to the question of a room. Unsent ones are kept, also in this browser, until they are sent or reported as lost.

import { fragment, toast } from './no-answer.js';
import { known, nextTurn, remember } from './rooms.js';
import { say } from './words.js';

const ANSWER_MS = 8000; // for the server to take an answer
const AGAIN_MS = 4000; // until an unsent answer is sent again, if no line reports earlier that it can be
const SOON_MS = 1000; // until the page shows that an answer is being sent
const byId = (id) => document.getElementById(id);
const room = byId('room');
const unsent = new Map(); // number of a question → { chosen, page, turn }; of several tabs, the server keeps the latest turn
const notes = new Map(); // number of a question → sentence about its answer
let unknown = false; // the room did not know the sender of an answer
let busy = false;
let again = 0;

/** Start, and send what an earlier page could not send. */
export function keepAnswers() {
  const before = known(room.dataset.room);
  if (before?.path === location.pathname) for (const [number, answer] of Object.entries(before.unsent ?? {})) if (Array.isArray(answer.chosen)) unsent.set(number, answer);
  document.addEventListener('submit', (event) => {
    if (!event.target.matches('[data-answer]')) return;
    event.preventDefault();
    const data = new FormData(event.target);
    notes.delete(data.get('number'));
    unsent.set(data.get('number'), { chosen: data.getAll('chosen'), ...nextTurn(room.dataset.room) });
    changed();
    send();
  });
  for (const [target, kind] of [[document, 'line-back'], [document, 'visibilitychange'], [window, 'online']]) target.addEventListener(kind, send);
  send();
}

/** Return true if an answer is lost because the room no longer knows this page. */
export const hasLost = () => unsent.size > 0 || unknown;

async function send() {
  if (busy || !unsent.size || document.hidden) return;
  clearTimeout(again);
  busy = true;
  const late = setTimeout(() => { for (const number of unsent.keys()) wait(number); }, SOON_MS);
  for (const [number, answer] of unsent) if (!await sendOne(number, answer)) break;
  clearTimeout(late);
  busy = false;
  if (unsent.size) again = setTimeout(send, AGAIN_MS);
}

/** Send an answer. Return true if the server accepted it, or refused it for good. */
async function sendOne(number, unsentAnswer) {
  const { chosen, page, turn } = unsentAnswer;
  const body = new URLSearchParams([['number', number], ['page', page], ['turn', turn], ...chosen.map((choice) => ['chosen', choice])]);
  const answer = await fetch('answer/', { method: 'POST', body, signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null);
  const again = !answer || answer.status === 429 || answer.status >= 500;
  if (unsent.get(number) !== unsentAnswer) return !again; // it was changed meanwhile: send the new one next
  if (again) {
    wait(number);
    return false;
  }
  unknown ||= answer.status === 404;
  unsent.delete(number);
  notes.set(number, answer.ok ? '' : await sentenceOf(answer));
  changed();
  return true;
}

const shown = (choice) => [...document.querySelectorAll('form[data-answer] [name="chosen"]:not([type="text"])')].find(({ value }) => value === choice)?.closest('label').textContent ?? choice;

function wait(number) {
  if (!document.querySelector('[data-name]')) return;
  notes.set(number, say('script.answer-waits', { choices: unsent.get(number).chosen.map(shown).join(', ') || say('script.answer-none') }));
  showAnswers();
}

async function sentenceOf(answer) {
  const refused = fragment(await answer.text());
  const sentence = refused.querySelector('[data-notice] p')?.textContent;
  const why = [...refused.querySelectorAll('[data-notice] li')].map((item) => item.textContent).join(' ');
  return why || sentence || say('script.answer-lost');
}

function changed() {
  const name = document.querySelector('[data-name]');
  if (!name) return; // the room no longer knows this page, and says so
  remember(room.dataset.room, location.pathname, name.textContent, Object.fromEntries(unsent));
  showAnswers();
}

/** Show the notes at their question, or as notices once it has gone. */
export function showAnswers() {
  const place = document.querySelector('[data-unsent]');
  for (const [number, text] of notes) {
    if (place?.dataset.unsent === number) {
      if (place.textContent !== text) place.textContent = text;
    } else if (text && !unsent.has(number)) {
      byId('notice').replaceChildren(toast(text));
      notes.delete(number);
    }
  }
  const form = document.querySelector('form[data-answer]');
  const chosen = form && unsent.get(form.elements.number.value)?.chosen;
  if (chosen && !form.contains(document.activeElement)) for (const field of form.querySelectorAll('[name="chosen"]')) fill(field, chosen);
}

/** Show an unsent answer in its field: a choice, or a text of their own. */
function fill(field, chosen) {
  if (field.type === 'text') field.value = chosen.join('');
  else field.checked = chosen.includes(field.value);
}
