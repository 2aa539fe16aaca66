import type { MaskedState } from './masked-state.ts';
import type { ScenarioOutcome } from './scenario-runner.ts';

/** The differences between two outcomes of a scenario, one line each, with both values. */
export function differencesOf(real: ScenarioOutcome, ours: ScenarioOutcome): readonly string[] {
  const actions = keysOf(real, ours);
  return actions.flatMap((action, at) => {
    const [theirs, our] = [real[action], ours[action]];
    const lines = [
      ...compare(theirs?.answer, our?.answer, 'answer'),
      ...compareObjects(objectsOf(theirs?.state), objectsOf(our?.state)),
      ...missing(eventsOf(real, [action]), eventsOf(ours, actions.slice(at)), 'real'),
      ...missing(eventsOf(ours, [action]), eventsOf(real, actions.slice(at)), 'ours'),
    ];
    return lines.map((line) => `${action}: ${line}`);
  });
}

function objectsOf({ events, ...objects }: MaskedState = {}): object {
  return objects;
}

function eventsOf(outcome: ScenarioOutcome, actions: readonly string[]): readonly string[] {
  return actions.flatMap((action) => (outcome[action]?.state.events ?? []) as readonly string[]);
}

/** `others` also contains Events that were observed after later actions: Events are written in the background, and may be late. */
function missing(some: readonly string[], others: readonly string[], whose: string): readonly string[] {
  return some.filter((line) => !others.includes(line)).map((line) => `Event only ${whose}: ${line}`);
}

function compareObjects(real: object, ours: object): readonly string[] {
  const [theirs, our] = [new Map(Object.entries(real)), new Map(Object.entries(ours))];
  return keysOf(real, ours).flatMap((title) => {
    if (!theirs.has(title)) return [`${title}: only ours`];
    if (!our.has(title)) return [`${title}: only real`];
    return compare(theirs.get(title), our.get(title), title);
  });
}

function compare(real: unknown, ours: unknown, path: string): readonly string[] {
  if (isObject(real) && isObject(ours))
    return keysOf(real, ours).flatMap((key) => compare(real[key], ours[key], `${path}.${key}`));
  const [theirs, our] = [JSON.stringify(real), JSON.stringify(ours)];
  return theirs === our ? [] : [`${path}: real ${theirs}, ours ${our}`];
}

/** Also lists, by index. */
function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function keysOf(...objects: readonly object[]): readonly string[] {
  return [...new Set(objects.flatMap((object) => Object.keys(object)))];
}
