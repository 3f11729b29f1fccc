// The page that shows how to use kubectl: its commands are copied.

import { copies } from './clipboard.js';

copies(document.querySelector('main'));
