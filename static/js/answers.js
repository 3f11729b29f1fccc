// Answers to the question of a room. One that cannot be sent is kept, also in this browser, until it is sent or its loss is said.

import { fragment, toast } from './no-answer.js';
import { known, nextTurn, remember } from './rooms.js';
import { say } from './words.js';

const ANSWER_MS = 8000; // for the server to take an answer
const AGAIN_MS = 4000; // after which one that was not taken is sent again, where no line tells that it can be
const SOON_MS = 1000; // until then nobody needs to know that it is under way
const byId = (id) => document.getElementById(id);
const room = byId('room');
const unsent = new Map(); // number of a question → { chosen, page, turn }: the server drops what was overtaken, in this tab or another one
const told = new Map(); // number of a question → what there is to say of its answer
let unknown = false; // the room did not know who sent an answer
let busy = false;
let again = 0;

/** Begin: what an earlier page could not send is sent now. */
export function keepAnswers() {
  const before = known(room.dataset.room);
  if (before?.path === location.pathname) for (const [number, answer] of Object.entries(before.unsent ?? {})) if (Array.isArray(answer.chosen)) unsent.set(number, answer);
  document.addEventListener('submit', (event) => {
    if (!event.target.matches('[data-answer]')) return;
    event.preventDefault();
    const given = new FormData(event.target);
    told.delete(given.get('number'));
    unsent.set(given.get('number'), { chosen: given.getAll('chosen'), ...nextTurn(room.dataset.room) });
    changed();
    send();
  });
  for (const [target, kind] of [[document, 'line-back'], [document, 'visibilitychange'], [window, 'online']]) target.addEventListener(kind, send);
  send();
}

/** Whether an answer is lost now that the room knows this page no longer: one that waits, or that was sent to it in vain. */
export const hasLost = () => unsent.size > 0 || unknown;

async function send() {
  if (busy || !unsent.size || document.hidden) return;
  clearTimeout(again);
  busy = true;
  const late = setTimeout(() => { for (const number of unsent.keys()) wait(number); }, SOON_MS);
  for (const [number, given] of unsent) if (!await sendOne(number, given)) break;
  clearTimeout(late);
  busy = false;
  if (unsent.size) again = setTimeout(send, AGAIN_MS);
}

/** Whether the server has taken it, or refused it for good. */
async function sendOne(number, given) {
  const { chosen, page, turn } = given;
  const body = new URLSearchParams([['number', number], ['page', page], ['turn', turn], ...chosen.map((choice) => ['chosen', choice])]);
  const answer = await fetch('answer/', { method: 'POST', body, signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => null);
  const again = !answer || answer.status === 429 || answer.status >= 500;
  if (unsent.get(number) !== given) return !again; // it was changed meanwhile: the new one is next
  if (again) {
    wait(number);
    return false;
  }
  unknown ||= answer.status === 404;
  unsent.delete(number);
  told.set(number, answer.ok ? '' : await sentenceOf(answer));
  changed();
  return true;
}

/** A choice as its label shows it. */
const shown = (choice) => [...document.querySelectorAll('form[data-answer] [name="chosen"]')].find(({ value }) => value === choice)?.closest('label').textContent ?? choice;

function wait(number) {
  if (!document.querySelector('[data-name]')) return;
  told.set(number, say('script.answer-waits', { choices: unsent.get(number).chosen.map(shown).join(', ') || say('script.answer-none') }));
  showAnswers();
}

async function sentenceOf(answer) {
  const refused = fragment(await answer.text());
  const said = refused.querySelector('[data-notice] p')?.textContent;
  const why = [...refused.querySelectorAll('[data-notice] li')].map((item) => item.textContent).join(' ');
  return why || said || say('script.answer-lost');
}

function changed() {
  const name = document.querySelector('[data-name]');
  if (!name) return; // the room knows this page no longer, and says so
  remember(room.dataset.room, location.pathname, name.textContent, Object.fromEntries(unsent));
  showAnswers();
}

/** At the question; once that has gone, as a notice. */
export function showAnswers() {
  const place = document.querySelector('[data-unsent]');
  for (const [number, text] of told) {
    if (place?.dataset.unsent === number) {
      if (place.textContent !== text) place.textContent = text;
    } else if (text && !unsent.has(number)) {
      notice(text);
      told.delete(number);
    }
  }
  const form = document.querySelector('form[data-answer]');
  const chosen = form && unsent.get(form.elements.number.value)?.chosen;
  if (chosen && !form.contains(document.activeElement)) for (const field of form.querySelectorAll('[name="chosen"]')) field.checked = chosen.includes(field.value);
}

function notice(text) {
  byId('notice').replaceChildren(toast(text));
}
