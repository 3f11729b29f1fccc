// A pod that changes its place leaves a short, faint trail: a line to its new place, or its outline if it is gone.

const MOST = 6; // pods at once; more trails would be a tangle
const own = (card) => [...card.classList].filter((name) => name.startsWith('app-'));

/** Return the lane or the node of a card. */
export const whereOf = (card) => card.dataset.lane ?? card.closest('article[data-node]')?.dataset.node ?? '';

/** Return what a trail from a card needs after the card is gone. */
export const rememberCard = (card, box) => ({ box, where: whereOf(card), app: own(card), around: card.closest('.scroll') });

/** Return the middle of a box, null if its list has scrolled it out of sight. */
function middle({ left, top, width, height }, around) {
  const x = left + width / 2;
  const y = top + height / 2;
  const seen = around?.getBoundingClientRect();
  return seen && (x < seen.left || x > seen.right || y < seen.top || y > seen.bottom) ? null : { x, y };
}

function draw(classes, style, timing) {
  const trail = document.createElement('i');
  trail.classList.add('trail', ...classes);
  trail.setAttribute('aria-hidden', 'true');
  Object.assign(trail.style, style);
  document.body.append(trail);
  trail.animate([{ opacity: 0.5 }, { opacity: 0 }], timing).finished.catch(() => {}).then(() => trail.remove());
}

const px = (number) => `${number}px`;

/** `moves`: { before, box, around } of pods at a new place. `gone`: what is remembered of pods that are nowhere now. */
export function leaveTrails(moves, gone, timing) {
  if (moves.length + gone.length > MOST) return;
  for (const { before, box, around } of moves) {
    const from = middle(before.box, before.around);
    const to = middle(box, around);
    if (!from || !to) continue;
    const [x, y] = [to.x - from.x, to.y - from.y];
    draw(before.app, { left: px(from.x), top: px(from.y), width: px(Math.hypot(x, y)), rotate: `${Math.atan2(y, x)}rad` }, timing);
  }
  for (const { box, around, app } of gone) {
    if (middle(box, around)) draw(['is-gone', ...app], { left: px(box.left), top: px(box.top), width: px(box.width), height: px(box.height) }, timing);
  }
}
