// A figure in somebody else's page: it tells that page that it is there, and how tall it is.

import { tell, tellHeight } from './embed-talk.js';
import './figure.js';

tellHeight([document.querySelector('.fig'), document.querySelector('.em-foot')]);
tell('ready', { panels: ['figure'], acts: false });
