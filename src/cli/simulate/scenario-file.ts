import { FileTooLarge, readBounded } from '../../io/files/read-bounded.ts';
import { readYaml, YamlSyntaxError } from '../../io/yaml/yaml-reader.ts';
import { isRecord } from '../../kube/wire.ts';
import { messageOf } from '../../runtime/error-message.ts';
import { allParts } from '../../simulation/all-parts.ts';
import { type Scenario, simulationSubjects, type TimedAction } from '../../simulation/scenario.ts';
import { type Field, isOn, list, record } from '../config/fields.ts';
import { CliError } from '../errors/cli-error.ts';

const standardInput = 0;
const scenarioBytesMax = 16 * 2 ** 20;

const fields = record({
  subject: nameOf('subject', simulationSubjects),
  seed: seedText,
  replicated: list(nameOf('process', namesOfProcesses())),
  latencyMaxMs: wholeNumber,
  attaches: isOn,
  actions: list(
    record({
      atMs: wholeNumber,
      action: nameOf('action', namesOfActions()),
      parameters: parametersOf,
    }),
  ),
});

/** Reads the file of `--from`: a scenario as `stowage simulate` prints it. The error lists all problems together. */
export function readScenarioFile(path: string): Scenario {
  const problems: string[] = [];
  const content = contentOf(path, problems);
  const read = fields(content, '', problems) ?? {};
  const { subject, seed, replicated, latencyMaxMs, attaches, actions } = read;
  for (const [name, value] of Object.entries({ seed, replicated, latencyMaxMs, actions }))
    if (value === undefined && !(isRecord(content) && Object.hasOwn(content, name)))
      problems.push(`${name}: is missing; write it as stowage simulate prints it`);
  const timed = (actions ?? []).flatMap((action, at) => completeAction(action, `actions[${at}]`, problems));
  if (problems.length > 0 || seed === undefined || latencyMaxMs === undefined)
    throw new CliError(problems.map((problem) => `--from: ${path}: ${problem}`).join('\n'), 2);
  const inOrder = timed.toSorted((left, right) => left.atMs - right.atMs);
  const about = simulationSubjects.find((each) => each === subject);
  const optional = { ...(about && { subject: about }), ...(attaches !== undefined && { attaches }) };
  return { seed, replicated: replicated ?? [], latencyMaxMs, ...optional, actions: inOrder };
}

function contentOf(path: string, problems: string[]): unknown {
  try {
    const { value, duplicates, hasMore } = readYaml(
      withoutDashes(readBounded(path === '-' ? standardInput : path, scenarioBytesMax)),
    );
    problems.push(...duplicates.map((each) => `${each}; remove one`));
    if (hasMore) problems.push('holds several documents; leave one');
    return value;
  } catch (error) {
    if (error instanceof FileTooLarge)
      throw new CliError(
        `--from: ${path}: has more than ${scenarioBytesMax / 2 ** 20} MiB, which is the most of a scenario`,
        2,
        { cause: error },
      );
    const isExpected = error instanceof YamlSyntaxError || (error instanceof Error && 'code' in error);
    if (!isExpected) throw error;
    const remedy = 'see that the file is there and is JSON or YAML';
    throw new CliError(`--from: cannot read ${path}: ${messageOf(error)}; ${remedy}`, 2, { cause: error });
  }
}

/** The lines around the printed scenario may have been saved with it. */
function withoutDashes(text: string): string {
  return text.replace(/\n---\s*$/, '\n');
}

function completeAction(
  { atMs, action, parameters = {} }: { readonly [Name in keyof TimedAction]?: TimedAction[Name] | undefined },
  path: string,
  problems: string[],
): readonly TimedAction[] {
  if (atMs !== undefined && action !== undefined) return [{ atMs, action, parameters }];
  // A value that was given and is wrong has been reported already.
  if (!problems.some((problem) => problem.startsWith(path)))
    problems.push(`${path}: needs atMs and action; parameters may be left out`);
  return [];
}

/** A seed is a text; a number is accepted too. */
function seedText(value: unknown, path: string, problems: string[]): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  problems.push(`${path}: is ${shown(value)}; give a text or an integer`);
  return undefined;
}

function wholeNumber(value: unknown, path: string, problems: string[]): number | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  problems.push(`${path}: is ${shown(value)}; give whole milliseconds, 0 or more`);
  return undefined;
}

function nameOf(what: string, names: readonly string[]): Field<string> {
  return (value, path, problems) => {
    const known = names.find((name) => name === value);
    if (known === undefined)
      problems.push(`${path}: there is no ${what} ${shown(value)}; use one of ${names.join(', ')}`);
    return known;
  };
}

function parametersOf(
  value: unknown,
  path: string,
  problems: string[],
): Readonly<Record<string, string | number | boolean>> | undefined {
  if (!isRecord(value)) {
    problems.push(`${path}: is ${shown(value)}; give names with a value each`);
    return undefined;
  }
  const read: Record<string, string | number | boolean> = {};
  for (const [name, given] of Object.entries(value)) {
    if (typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean')
      read[name] = given;
    else problems.push(`${path}.${name}: is ${shown(given)}; give a text, a number, true or false`);
  }
  return read;
}

function namesOfActions(): readonly string[] {
  return [...new Set(allParts.flatMap(({ actions = [] }) => actions.map(({ name }) => name)))];
}

function namesOfProcesses(): readonly string[] {
  return allParts.flatMap(({ processes = [] }) => processes.map(({ name }) => name));
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
