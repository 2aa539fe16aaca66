import { readFile } from 'node:fs/promises';
import { readYaml, YamlSyntaxError } from '../../io/yaml/yaml-reader.ts';
import { CliError } from '../errors/cli-error.ts';
import { csiField } from './csi-field.ts';
import { address, choice, isOn, list, record, secondsFrom, text } from './fields.ts';
import { profileField } from './profile-field.ts';

const apiVersion = 'stowage.dev/v1alpha1';
const kind = 'StowageConfiguration';

const fields = record({
  apiVersion: choice(apiVersion),
  kind: choice(kind),
  controllers: list(text),
  schedulerNames: list(text),
  profile: profileField,
  bindTimeoutSeconds: secondsFrom(1),
  backOff: record({ initialSeconds: secondsFrom(0.001), maxSeconds: secondsFrom(0) }),
  featureGates: record({ VolumeScheduling: isOn, CSIStorageCapacity: isOn }),
  leaderElection: record({ leaderElect: isOn, leaseSuffix: text }),
  httpAddress: address,
  csi: csiField,
});

/** The content of the file. */
export type Configuration = NonNullable<ReturnType<typeof fields>>;

/** Reads the file of `--config`. The error lists all problems together. */
export async function readConfiguration(path: string): Promise<Configuration> {
  const problems: string[] = [];
  const content = await contentOf(path, problems);
  const read = fields(content ?? {}, '', problems) ?? {};
  for (const [name, value] of Object.entries({ apiVersion, kind })) {
    if (!hasField(content, name)) problems.push(`${name}: is missing; write ${name}: ${value}`);
  }
  if (problems.length === 0) return read;
  throw new CliError(problems.map((problem) => `${path}: ${problem}`).join('\n'), 2);
}

async function contentOf(path: string, problems: string[]): Promise<unknown> {
  try {
    const { value, duplicates, hasMore } = readYaml(await readFile(path, 'utf8'));
    problems.push(...duplicates.map((each) => `${each}; remove one`));
    if (hasMore) problems.push('holds several documents, of which only the first would count; leave one');
    return value;
  } catch (error) {
    if (!(error instanceof YamlSyntaxError) && (error as NodeJS.ErrnoException).code === undefined)
      throw error;
    const { message } = error as Error;
    throw new CliError(
      `--config: cannot read ${path}: ${message}; see that the file is there and is YAML`,
      2,
      {
        cause: error,
      },
    );
  }
}

function hasField(content: unknown, name: string): boolean {
  return typeof content === 'object' && content !== null && Object.hasOwn(content, name);
}
