import { controllerNames } from '../../controllers/controller-names.ts';
import { logFormats, logLevels } from '../../runtime/log.ts';
import { outputFormats } from '../output/output-format.ts';

/**
 * Words that flags and arguments take. The commands check them in their own words, which is why commander isn't told; what is here is
 * offered and nothing more.
 */
const flags: Readonly<Record<string, readonly string[]>> = {
  '--output': outputFormats,
  '--log-format': logFormats,
  '--log-level': logLevels,
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

/** Of a flag, which means the same everywhere; undefined where anything goes. */
export function flagValues(long: string): readonly string[] | undefined {
  return flags[long];
}

export function argumentValues(command: string, name: string): readonly string[] | undefined {
  return commandArguments[`${command} ${name}`];
}

/** What `stowage __names` is asked for. */
export type NamedThing = 'object' | 'namespace' | 'class';

const namedByFlags: Readonly<Record<string, NamedThing>> = { '--namespace': 'namespace', '--class': 'class' };

/** Of a flag that takes the name of something in the cluster. */
export function namedByFlag(long: string): NamedThing | undefined {
  return namedByFlags[long];
}

export function namedByArgument(command: string, name: string): NamedThing | undefined {
  return command === 'explain' && name === 'name' ? 'object' : undefined;
}
