// The doors of workshops: what the server refuses stands in the form, which keeps what was typed.

import './refusals.js';
