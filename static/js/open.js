// What a link carries behind its "#s=": read here, shown, and sent only when somebody opens it.

const byId = (id) => document.getElementById(id);
const MOST = 1024 * 1024; // bytes of the text; as many as manifests may have
const BROKEN = 'This link is broken or cut off, so it cannot be read. Ask for it again.';
const TOO_LARGE = `This link holds more than ${MOST.toLocaleString('en')} bytes, so it was not opened.`;

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
      throw new Refused(TOO_LARGE);
    }
    parts.push(value);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(await new Blob(parts).arrayBuffer());
}

const count = (number, what) => `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;

/** What the text says of itself; a text that is no JSON is judged by the server. */
function about(text) {
  const size = `${text.length.toLocaleString('en')} characters`;
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    return { title: 'A scenario', says: `${size}, as YAML.` };
  }
  const list = (value) => Array.isArray(value) ? value : [];
  const objects = list(found?.setup).reduce((sum, step) => sum + list(step?.manifests ?? step?.apply).length, 0);
  const title = typeof found?.title === 'string' && found.title || 'A scenario without a title';
  return { title, says: `${count(objects, 'object')} in its setup, ${count(list(found?.then).length, 'step')} after it; ${size}.` };
}

async function send(text) {
  const body = new FormData();
  body.append('file', new Blob([text]), 'link.scenario.yaml');
  const button = byId('open-go');
  button.disabled = true;
  const answer = await fetch(button.dataset.import, { method: 'POST', body, headers: { Accept: 'text/plain' } }).catch(() => null);
  button.disabled = false;
  const told = answer ? await answer.text() : 'The server did not answer. Nothing was created.';
  if (answer?.status === 201) location.assign(new URL(told.trim()).pathname);
  else byId('open-refused').textContent = answer?.headers.get('Content-Type')?.startsWith('text/plain') || !answer ? told : `The server answered ${answer.status}. Nothing was created.`;
}

async function read() {
  const [, packed] = /^#s=(.*)$/.exec(location.hash) ?? [];
  byId('open-go').hidden = true;
  byId('open-says').hidden = true;
  byId('open-refused').textContent = '';
  if (!packed) {
    byId('open-about').textContent = 'This link is empty. It should contain a part that begins with #s=.';
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
