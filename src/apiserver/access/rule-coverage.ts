import type { PolicyRule } from '../../kube/api/stored/rbac.ts';
import { goQuoted } from '../../kube/go/quote.ts';
import { pathCovers } from './rule-match.ts';

/** Permissions that `wanted` grants and `held` does not, in the smallest units: one verb on one resource or path. */
export function uncoveredRules(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  const isHeld = (piece: PolicyRule) => held.some((rule) => covers(rule, piece));
  let left = piecesMax;
  return wanted.flatMap((rule) => {
    if (isHeld(rule)) return [];
    left -= countPieces(rule);
    return left < 0 ? [rule] : breakDownRule(rule).filter((piece) => !isHeld(piece));
  });
}

/** A rule of a few kilobytes can expand to billions of units. Beyond this limit a rule counts as a whole, held or not. */
const piecesMax = 50_000;

/** Formats rules for messages: units that differ only in their verbs are merged, then sorted. */
export function describeRules(pieces: readonly PolicyRule[]): readonly string[] {
  const byResource = new Map<string, PolicyRule>();
  const whole: PolicyRule[] = [];
  for (const piece of pieces) {
    if ((piece.nonResourceURLs ?? []).length > 0) {
      whole.push(piece);
      continue;
    }
    const key = JSON.stringify([piece.apiGroups, piece.resources, piece.resourceNames ?? []]);
    const found = byResource.get(key);
    byResource.set(key, { ...piece, verbs: [...(found?.verbs ?? []), ...(piece.verbs ?? [])] });
  }
  return [...new Set([...whole, ...byResource.values()].map(ruleText))].sort();
}

/** A list of strings as Go prints it: `["a" "b"]`. */
export function formatGoStrings(texts: readonly string[]): string {
  return `[${texts.map(goQuoted).join(' ')}]`;
}

function breakDownRule(rule: PolicyRule): readonly PolicyRule[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const verbs = (rule.verbs ?? []).map((verb) => [verb]);
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }));
  const onResources = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({ apiGroups: [group], resources: [resource], verbs: verb, ...name })),
      ),
    ),
  );
  const onPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb) => ({ nonResourceURLs: [url], verbs: verb })),
  );
  return [...onResources, ...onPaths];
}

function countPieces(rule: PolicyRule): number {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const onResources = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return (onResources + nonResourceURLs.length) * (rule.verbs ?? []).length;
}

function covers(rule: PolicyRule, piece: PolicyRule): boolean {
  return (
    hasAll(rule.verbs, piece.verbs) &&
    hasAll(rule.apiGroups, piece.apiGroups) &&
    (piece.resources ?? []).every((resource) => coversResource(rule.resources ?? [], resource)) &&
    coversNames(rule.resourceNames ?? [], piece.resourceNames ?? []) &&
    (piece.nonResourceURLs ?? []).every((path) => coversPath(rule.nonResourceURLs ?? [], path))
  );
}

function hasAll(
  held: readonly string[] | null | undefined,
  wanted: readonly string[] | null | undefined,
): boolean {
  const texts = held ?? [];
  return texts.includes('*') || (wanted ?? []).every((text) => texts.includes(text));
}

function coversResource(held: readonly string[], resource: string): boolean {
  if (held.includes('*') || held.includes(resource)) return true;
  const slash = resource.indexOf('/');
  return slash >= 0 && held.includes(`*${resource.slice(slash)}`);
}

/** A rule without names applies to all names. */
function coversNames(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.includes(name));
}

function coversPath(held: readonly string[], path: string): boolean {
  return held.some((pattern) => pattern === path || pathCovers(pattern, path));
}

function ruleText(rule: PolicyRule): string {
  const parts = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const;
  const fields = parts.flatMap(([name, texts]) =>
    texts == null || texts.length === 0 ? [] : [`${name}:${formatGoStrings(texts)}`],
  );
  return `{${fields.join(', ')}}`;
}
