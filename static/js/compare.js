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

// --- pods that the two maps show on different nodes -----------------------------------------------------------------

const NAMED = 3;
const SETTLED_MS = 300; // One press reaches both sides, seldom at once.
let marking = 0;
const differing = document.getElementById('both-d');
const shortName = (key) => key.replace(/^default\//, '');

/** Return pod → node, as a side's map shows them; null if it shows no single pods, or is not there yet. */
function placements(side) {
  const map = side.contentDocument?.querySelector('#panel-cluster .zones:not(.many)');
  if (!map) return null;
  const pods = [...map.querySelectorAll('.node[data-node] .pods .pod[data-pod]:not(.is-nominated, .is-landing, .is-gone)')];
  return new Map(pods.map((pod) => [pod.dataset.pod, pod.closest('.node').dataset.node]));
}

/** Outline pods in a side. A style sheet does it, so that updates of the map cannot undo it. */
function outline(side, pods) {
  const sheet = (side.outlines ??= new side.contentWindow.CSSStyleSheet());
  if (!side.contentDocument.adoptedStyleSheets.includes(sheet)) side.contentDocument.adoptedStyleSheets.push(sheet);
  const selectors = pods.map((pod) => `#panel-cluster .pods .pod[data-pod="${CSS.escape(pod)}"]`);
  sheet.replaceSync(selectors.length ? `${selectors.join(', ')} { outline: 2px solid var(--sel); outline-offset: 0; }` : '');
}

function markDifferences() {
  const [left, right] = sides.map(placements);
  const both = left && right ? [...new Set([...left.keys(), ...right.keys()])] : [];
  const pods = both.filter((pod) => left.get(pod) !== right.get(pod)).sort();
  const nowhere = say('script.placed-nowhere');
  const where = (pod) => say('script.placed-on', { pod: shortName(pod), left: left.get(pod) ?? nowhere, right: right.get(pod) ?? nowhere });
  const named = pods.slice(0, NAMED).map(where).join('; ');
  const text = pods.length > NAMED ? say('script.and-more-placed', { pods: named, more: pods.length - NAMED }) : named;
  const sentence = pods.length ? say('script.placed-differently', { count: pods.length, pods: text }) : '';
  if (differing.textContent === sentence) return;
  differing.textContent = sentence;
  differing.hidden = !sentence;
  sides.forEach((side) => outline(side, pods));
}

/** Follow a side's page as it changes. */
function follow(side) {
  side.outlines = undefined;
  const later = () => { clearTimeout(marking); marking = setTimeout(markDifferences, SETTLED_MS); };
  new MutationObserver(later).observe(side.contentDocument.body, { childList: true, subtree: true, attributeFilter: ['class'] });
  later();
}

for (const side of sides) {
  side.addEventListener('load', () => follow(side));
  if (side.contentDocument?.readyState === 'complete') follow(side);
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-verb]');
  if (button) turn = turn.then(() => press(button.dataset));
});
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  document.querySelector(`[data-key="${CSS.escape(event.key)}"]`)?.click();
});
