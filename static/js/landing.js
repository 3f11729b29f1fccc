// The scenarios of the start page, narrowed by letters, topic and level.

import { fillFigures } from './figure.js';
import { narrow } from './gallery.js';

const form = document.getElementById('scen-form');
const all = (selector) => [...document.querySelectorAll(selector)];
if (form) narrow(form, all('.scen-g > [data-topic]'), all('.scen-g > [data-heading]'), { some: 'script.scenarios', none: 'script.no-scenarios' });

fillFigures();
