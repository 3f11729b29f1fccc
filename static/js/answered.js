// What this browser has answered wrongly in practice, and when it comes back. Shape: { counted, cards }
//   counted  { path of a sandbox: parts whose answer was counted }, the newest rounds only
//   cards    [{ key, box, due }]   key  topic and level: "spread-2"   box  place in DAYS   due  time in ms

import { readObject, write } from './storage.js';

const KEY = 'practice';
const DAYS = [1, 3, 7];
const DAY = 86_400_000;
const MOST_ROUNDS = 50;
const MOST_CARDS = 300;

const isCard = (card) => typeof card?.key === 'string' && Number.isInteger(card.box) && card.box in DAYS
  && typeof card.due === 'number' && !Number.isNaN(new Date(card.due).getTime());

/** Return what is stored, without what another version or another script may have written there. */
function answered() {
  const { counted, cards } = readObject(KEY);
  const rounds = Object.entries(counted ?? {}).filter(([, parts]) => Array.isArray(parts));
  return { counted: Object.fromEntries(rounds), cards: Array.isArray(cards) ? cards.filter(isCard) : [] };
}

/** Return the cards of wrong answers, those that are due first. */
export const cardsOf = () => answered().cards.toSorted((one, other) => one.due - other.due);

/** Drop the cards. What was counted stays, or a round that is opened again would bring its cards back. */
export const forgetAnswers = () => write(KEY, JSON.stringify({ counted: answered().counted, cards: [] }));

/** Count each answer of a round once. `rights`: "0:1 1:0", part and whether its answer was right. */
export function rememberAnswers(path, key, rights) {
  const { counted, cards } = answered();
  const { [path]: before = [], ...others } = counted;
  const news = rights.split(' ').map((each) => each.split(':')).filter(([part]) => !before.includes(part));
  if (!news.length) return;
  const kept = news.reduce((all, [, right]) => afterAnswer(all, key, right === '1', Date.now()), cards);
  const rounds = Object.entries({ ...others, [path]: [...before, ...news.map(([part]) => part)] }).slice(-MOST_ROUNDS);
  write(KEY, JSON.stringify({ counted: Object.fromEntries(rounds), cards: kept.slice(-MOST_CARDS) }));
}

/** A right answer moves a card that is due one box on, and out of the last one; a wrong one puts it into the first. */
function afterAnswer(cards, key, right, now) {
  const card = cards.find((each) => each.key === key && each.due <= now);
  const others = cards.filter((each) => each !== card);
  const box = right ? (card?.box ?? DAYS.length) + 1 : 0;
  return box < DAYS.length ? [...others, { key, box, due: now + DAYS[box] * DAY }] : others;
}
