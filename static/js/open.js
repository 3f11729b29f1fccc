// What a link carries behind its "#s=": read here, shown, and sent only when somebody opens it.

import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const MOST = 1024 * 1024; // bytes of the text; as many as manifests may have
const BROKEN = say('script.link-broken');

class Refused extends Error {}

function bytes(text) {
  if (!/^[\w-]+$/.test(text)) throw new Refused(BROKEN);
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
}

/** Counted while it is read, so that a small link cannot fill the memory. */
async function unpack(packed) {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST) {
      await reader.cancel();
      throw new Refused(say('script.link-too-large', { most: MOST }));
    }
    parts.push(value);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(await new Blob(parts).arrayBuffer());
}

/** What the text says of itself; a text that is no JSON is judged by the server. */
function about(text) {
  const { length } = text;
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    return { title: say('script.scenario'), says: say('script.link-yaml', { length }) };
  }
  const list = (value) => Array.isArray(value) ? value : [];
  const objects = list(found?.setup).reduce((sum, step) => sum + list(step?.manifests ?? step?.apply).length, 0);
  const steps = list(found?.then).length;
  const title = typeof found?.title === 'string' && found.title || say('script.scenario-without-title');
  return { title, says: say('script.link-scenario', { objects: say('script.objects', { count: objects }), steps: say('script.steps', { count: steps }), length }) };
}

async function send(text) {
  const body = new FormData();
  body.append('file', new Blob([text]), 'link.scenario.yaml');
  const button = byId('open-go');
  button.disabled = true;
  const answer = await fetch(button.dataset.import, { method: 'POST', body, headers: { Accept: 'text/plain' } }).catch(() => null);
  button.disabled = false;
  const told = answer ? await answer.text() : say('script.no-answer');
  if (answer?.status === 201) location.assign(new URL(told.trim()).pathname);
  else byId('open-refused').textContent = answer?.headers.get('Content-Type')?.startsWith('text/plain') || !answer ? told : say('script.nothing-created', { status: answer.status });
}

async function read() {
  const [, packed] = /^#s=(.*)$/.exec(location.hash) ?? [];
  byId('open-go').hidden = true;
  byId('open-says').hidden = true;
  byId('open-refused').textContent = '';
  if (!packed) {
    byId('open-about').textContent = say('script.link-empty');
    return;
  }
  try {
    const text = await unpack(bytes(packed));
    const { title, says } = about(text);
    byId('open-title').textContent = title;
    byId('open-about').textContent = says;
    byId('open-says').hidden = false;
    byId('open-go').hidden = false;
    byId('open-go').onclick = () => send(text);
  } catch (error) {
    byId('open-about').textContent = error instanceof Refused ? error.message : BROKEN;
  }
}

addEventListener('hashchange', read);
read();
