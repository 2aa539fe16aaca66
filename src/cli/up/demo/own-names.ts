import { basename, relative } from 'node:path';

/** The commands that the user types to call this program, and to start over. */
export interface OwnNames {
  readonly program: string;
  readonly startOver: string;
}

/** How the user called this program: by npm in a checkout, by npx or by its name where it is installed, by its path elsewhere. */
export function ownNames(script: string, environment: NodeJS.ProcessEnv): OwnNames {
  if (environment.npm_lifecycle_event === 'start')
    return { program: 'npx stowage', startOver: 'npm start -- --fresh' };
  if (basename(script) !== 'stowage')
    return { program: `node ${relative('', script)}`, startOver: '--fresh' };
  // npx puts the program on the PATH of this process only.
  return { program: environment.npm_command === 'exec' ? 'npx stowage' : 'stowage', startOver: '--fresh' };
}
