import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { ownNames } from './own-names.ts';

test.each([
  [
    'npm start',
    '/app/dist/cli/main.js',
    { npm_lifecycle_event: 'start' },
    'npx stowage',
    'npm start -- --fresh',
  ],
  ['npx', '/app/node_modules/.bin/stowage', { npm_command: 'exec' }, 'npx stowage', '--fresh'],
  ['its name', '/usr/local/bin/stowage', {}, 'stowage', '--fresh'],
  // Also below a script that npx started.
  ['its path', resolve('dist/cli/main.js'), { npm_command: 'exec' }, 'node dist/cli/main.js', '--fresh'],
])(
  'called by %s, the hints name the command that the user can type',
  (_, script, environment, program, startOver) => {
    expect(ownNames(script, environment)).toEqual({ program, startOver });
  },
);
