// Files that are chosen or dropped: their texts joined as YAML documents, or a sentence about what is wrong. And files to save.

import { say } from './words.js';

const NAMES = /\.(ya?ml|json)$/i;

async function decoded(file) {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
  if (text.includes('\0')) throw new TypeError('zero byte');
  return text;
}

/** Return a sentence about what is wrong with the files, '' if nothing is. */
function refusal(files, most) {
  const stranger = files.find(({ name }) => !NAMES.test(name));
  if (stranger) return say('script.manifest-name', { name: stranger.name });
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size <= most) return '';
  return files.length === 1 ? say('script.manifest-too-large', { name: files[0].name, size, most }) : say('script.manifests-too-large', { size, most });
}

async function read(files, most) {
  const words = refusal(files, most);
  if (words) throw new Error(words);
  const texts = [];
  for (const file of files) {
    texts.push(await decoded(file).catch(() => { throw new Error(say('script.manifest-not-text', { name: file.name })); }));
  }
  return files.length > 1 ? texts.map((text) => text.replace(/\s*$/, '\n')).join('---\n') : texts[0];
}

/** Read files that `input` chooses or somebody drops on `box`: `take` gets their text, `refuse` a sentence. */
export function filesInto(box, input, most, take, refuse) {
  const bring = async (list) => {
    const files = [...list];
    if (files.length) await read(files, most).then(take, ({ message }) => refuse(message));
  };
  const over = (event) => {
    if (!event.dataTransfer.types.includes('Files')) return false;
    event.preventDefault();
    event.stopPropagation(); // The editor would take them.
    box.toggleAttribute('data-over', event.type === 'dragover');
    return true;
  };
  input.addEventListener('change', async () => { await bring(input.files); input.value = ''; });
  box.addEventListener('dragover', over, true);
  box.addEventListener('dragleave', ({ relatedTarget }) => { if (!box.contains(relatedTarget)) box.removeAttribute('data-over'); });
  box.addEventListener('drop', (event) => { if (over(event)) bring(event.dataTransfer.files); }, true);
}

/** Let the browser save a blob as a file. */
export function save(blob, name) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
