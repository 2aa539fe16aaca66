import { controllerNames } from '../../controllers/controller-names.ts';

/**
 * Words that flags and arguments take. The commands check them in their own words, which is why commander isn't told; what is here is
 * offered and nothing more.
 */
const flags: Readonly<Record<string, readonly string[]>> = {
  '--output': ['table', 'wide', 'json', 'yaml'],
  'reservations --output': ['table', 'wide', 'json', 'yaml', 'name'],
  'capacity --output': ['table', 'wide', 'json', 'yaml', 'name'],
  '--log-format': ['text', 'json'],
  '--log-level': ['debug', 'info', 'warn', 'error'],
  '--profile': ['stowage', 'upstream'],
  '--leader-elect': ['true', 'false'],
  '--dry-run': ['true', 'false'],
  '--controllers': ['none', ...controllerNames],
};

export const shells = ['bash', 'zsh', 'fish'] as const;

const commandArguments: Readonly<Record<string, readonly string[]>> = {
  'explain kind': ['pod', 'claim'],
  'completion shell': shells,
};

/** Of a flag of a command; undefined where anything goes. */
export function flagValues(command: string, long: string): readonly string[] | undefined {
  return flags[`${command} ${long}`] ?? flags[long];
}

export function argumentValues(command: string, name: string): readonly string[] | undefined {
  return commandArguments[`${command} ${name}`];
}
