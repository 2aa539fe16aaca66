import type { Outcome } from './side.ts';

/** What two outcomes of a scene differ in, one line each: where, and what it is on either side. */
export function differencesOf(real: Outcome, ours: Outcome): readonly string[] {
  return keysOf(real, ours).flatMap((act) => {
    const [theirs, our] = [real[act], ours[act]];
    const { events: told = [], ...objects } = theirs?.state ?? {};
    const { events: said = [], ...others } = our?.state ?? {};
    const lines = [
      ...compare(theirs?.answer, our?.answer, 'answer'),
      ...compareObjects(objects, others),
      ...compareEvents(told as readonly string[], said as readonly string[]),
    ];
    return lines.map((line) => `${act}: ${line}`);
  });
}

function compareObjects(real: object, ours: object): readonly string[] {
  const [theirs, our] = [new Map(Object.entries(real)), new Map(Object.entries(ours))];
  return keysOf(real, ours).flatMap((title) => {
    if (!theirs.has(title)) return [`${title}: only ours`];
    if (!our.has(title)) return [`${title}: only real`];
    return compare(theirs.get(title), our.get(title), title);
  });
}

function compareEvents(real: readonly string[], ours: readonly string[]): readonly string[] {
  const only = (some: readonly string[], others: readonly string[], whose: string) =>
    some.filter((line) => !others.includes(line)).map((line) => `Event only ${whose}: ${line}`);
  return [...only(real, ours, 'real'), ...only(ours, real, 'ours')];
}

function compare(real: unknown, ours: unknown, path: string): readonly string[] {
  if (isObject(real) && isObject(ours))
    return keysOf(real, ours).flatMap((key) => compare(real[key], ours[key], `${path}.${key}`));
  const [theirs, our] = [JSON.stringify(real), JSON.stringify(ours)];
  return theirs === our ? [] : [`${path}: real ${theirs}, ours ${our}`];
}

/** Lists too, by index. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function keysOf(...objects: readonly object[]): readonly string[] {
  return [...new Set(objects.flatMap((object) => Object.keys(object)))];
}
