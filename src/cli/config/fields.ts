import { isRecord } from '../../kube/wire.ts';
import { parseListenAddress } from '../flags/listen-address.ts';

/** Reads the value of a field at `path`. Problems are added to `problems`; then the result must not be used. */
export type Field<T> = (value: unknown, path: string, problems: string[]) => T | undefined;

/** An object whose fields are all optional. */
export type Fields<F> = {
  readonly [Name in keyof F]?: (F[Name] extends Field<infer T> ? T : never) | undefined;
};

export function record<F extends Readonly<Record<string, Field<unknown>>>>(fields: F): Field<Fields<F>> {
  return (value, path, problems) => {
    if (!isRecord(value)) return wrong(problems, path, `must have fields: ${Object.keys(fields).join(', ')}`);
    const read = Object.entries(value).map(([name, given]) => {
      const at = path === '' ? name : `${path}.${name}`;
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) {
        const known = Object.keys(fields).join(', ');
        return [name, wrong(problems, at, `there is no such field; use one of ${known}, or remove it`)];
      }
      // A field without a value counts as missing, as in Kubernetes.
      return [name, given === null ? undefined : field(given, at, problems)];
    });
    // Safe: each was read by the field of its name.
    return Object.fromEntries(read) as Fields<F>;
  };
}

/** A map with any keys and values of one type. */
export function mapping<T>(each: Field<T>): Field<Readonly<Record<string, T>>> {
  return (value, path, problems) => {
    if (!isRecord(value)) return wrong(problems, path, 'must be names with a value each');
    const read = Object.entries(value).map(([name, given]) => [
      name,
      each(given, `${path}[${name}]`, problems),
    ]);
    return Object.fromEntries(read);
  };
}

export function list<T>(each: Field<T>): Field<readonly T[]> {
  return (value, path, problems) => {
    if (!Array.isArray(value)) return wrong(problems, path, 'must be a list');
    return value.flatMap((given, position) => each(given, `${path}[${position}]`, problems) ?? []);
  };
}

export const isOn: Field<boolean> = (value, path, problems) =>
  typeof value === 'boolean' ? value : wrong(problems, path, `is ${shown(value)}; say true or false`);

export const text: Field<string> = (value, path, problems) =>
  typeof value === 'string' && value !== ''
    ? value
    : wrong(problems, path, `is ${shown(value)}; give a text that is not empty`);

export const address: Field<string> = (value, path, problems) =>
  typeof value === 'string' && parseListenAddress(value) !== undefined
    ? value
    : wrong(problems, path, `is ${shown(value)}; give HOST:PORT, such as 127.0.0.1:9808`);

export const number: Field<number> = (value, path, problems) =>
  typeof value === 'number' && Number.isFinite(value)
    ? value
    : wrong(problems, path, `is ${shown(value)}; give a number`);

export function secondsFrom(leastSeconds: number): Field<number> {
  return (value, path, problems) => {
    const isEnough = typeof value === 'number' && Number.isFinite(value) && value >= leastSeconds;
    return isEnough
      ? value
      : wrong(problems, path, `is ${shown(value)}; give seconds, ${leastSeconds} or more`);
  };
}

export function wholeFrom(least: number, most: number): Field<number> {
  return (value, path, problems) => {
    const isWithin = Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
    return isWithin
      ? Number(value)
      : wrong(problems, path, `is ${shown(value)}; give a whole number from ${least} to ${most}`);
  };
}

export function choice<T extends string>(...choices: readonly T[]): Field<T> {
  return (value, path, problems) =>
    choices.find((each) => each === value) ??
    wrong(problems, path, `${shown(value)} is none of ${choices.join(', ')}`);
}

function wrong(problems: string[], path: string, problem: string): undefined {
  problems.push(path === '' ? problem : `${path}: ${problem}`);
  return undefined;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
