// The content of a link after "#s=": read and shown here, and sent only when somebody opens it.

import { say } from './words.js';

const byId = (id) => document.getElementById(id);
const MOST = 1024 * 1024; // bytes of the text, as for manifests
const BROKEN = say('script.link-broken');

class Refused extends Error {}

function bytes(text) {
  if (!/^[\w-]+$/.test(text)) throw new Refused(BROKEN);
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
}

/** Return the text. Count while reading, so that a small link cannot fill the memory. */
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

/** Return a title and a summary of a text. If it is not JSON, the server reads it. */
function about(text) {
  const { length } = text;
  let scenario;
  try {
    scenario = JSON.parse(text);
  } catch {
    return { title: say('script.scenario'), says: say('script.link-yaml', { length }) };
  }
  const list = (value) => Array.isArray(value) ? value : [];
  const objects = list(scenario?.setup).reduce((sum, step) => sum + list(step?.manifests ?? step?.apply).length, 0);
  const steps = list(scenario?.then).length;
  const title = typeof scenario?.title === 'string' && scenario.title || say('script.scenario-without-title');
  return { title, says: say('script.link-scenario', { objects: say('script.objects', { count: objects }), steps: say('script.steps', { count: steps }), length }) };
}

async function send(text) {
  const body = new FormData();
  body.append('file', new Blob([text]), 'link.scenario.yaml');
  const button = byId('open-go');
  button.disabled = true;
  const answer = await fetch(button.dataset.import, { method: 'POST', body, headers: { Accept: 'text/plain' } }).catch(() => null);
  button.disabled = false;
  if (!answer) byId('open-refused').textContent = say('script.no-answer');
  else if (answer.status === 201) location.assign(new URL((await answer.text()).trim()).pathname);
  else byId('open-refused').textContent = answer.headers.get('Content-Type')?.startsWith('text/plain') ? await answer.text() : say('script.nothing-created', { status: answer.status });
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
