import type { Command } from 'commander';
import { usage } from '../errors/cli-error.ts';
import { bashScript } from './bash.ts';
import { commandTree } from './command-tree.ts';
import { fishScript } from './fish.ts';
import { shells } from './known-values.ts';
import { zshScript } from './zsh.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

/** `stowage completion`: prints the script for a shell. */
export function completion(shell: string, program: Command): void {
  const known = shells.find((name) => name === shell);
  if (known === undefined) throw usage(`there is no completion for "${shell}"; it must be bash, zsh or fish`);
  process.stdout.write(scripts[known](commandTree(program)));
}
