// The page to join a room offers to return under the name that this browser had there.

import { forget, known } from './rooms.js';

const place = document.getElementById('known');

async function offer() {
  const { room } = place.dataset;
  const { path, name } = known(room) ?? {};
  if (typeof path !== 'string' || !path.startsWith(`/w/${room}/`)) return;
  const answer = await fetch(path, { method: 'HEAD' }).catch(() => null);
  if (answer?.status === 404) return forget(room);
  place.querySelector('span').textContent = name;
  place.querySelector('a').href = path;
  place.hidden = false;
}

if (place) offer();
