// One set of buttons for two sandboxes: each press sends the same command to both.

import { say } from './words.js';

const sides = [...document.querySelectorAll('iframe[data-base]')];
const note = document.getElementById('both-e');
let turn = Promise.resolve(); // one press after the other keeps both logs in the same order

async function send(side, verb, seconds) {
  const body = new URLSearchParams(seconds ? { seconds } : {});
  const answer = await fetch(`${side.dataset.base}do/${verb}/`, { method: 'POST', body });
  if (answer.ok) return '';
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  return `${side.title}: ${page.body.textContent.trim().replace(/\s+/g, ' ')}`;
}

async function press({ verb, seconds }) {
  try {
    const answers = await Promise.all(sides.map((side) => send(side, verb, seconds)));
    note.textContent = answers.filter(Boolean).join('  ');
  } catch {
    note.textContent = say('script.no-answer-to-both');
  }
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-verb]');
  if (button) turn = turn.then(() => press(button.dataset));
});
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
});
