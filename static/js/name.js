// The name of a person: kept in this browser, sent with every change, shown to everybody.

import { read, write } from './storage.js';

const field = document.getElementById('share-who');
const KEY = 'who';

if (field) field.value = read(KEY) ?? '';
field?.addEventListener('input', () => write(KEY, myName()));

document.body.addEventListener('htmx:configRequest', (event) => {
  if (event.detail.verb !== 'get' && myName()) event.detail.parameters.who = myName();
});

const myName = () => field?.value.trim() ?? '';
