import type { PolicyRule } from '../../kube/api/stored/rbac.ts';
import { trimmedEnd } from '../../kube/go/trim.ts';
import type { Attributes, ResourceAttributes } from './attributes.ts';

/** Whether a rule allows the attributes. */
export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!matches(rule.verbs, attributes.verb)) return false;
  if (attributes.kind === 'path') return pathMatches(rule.nonResourceURLs, attributes.path);
  return (
    matches(rule.apiGroups, attributes.group) &&
    resourceMatches(rule.resources, attributes) &&
    nameMatches(rule.resourceNames, attributes.name)
  );
}

function matches(wanted: readonly string[] | null | undefined, given: string): boolean {
  return wanted?.some((text) => text === '*' || text === given) ?? false;
}

/** Matches `pods`, `pods/status`, `*` (everything), and `*` + `/status` (the status of any resource). */
function resourceMatches(
  wanted: readonly string[] | undefined,
  { resource, subresource }: ResourceAttributes,
): boolean {
  const given = subresource === '' ? resource : `${resource}/${subresource}`;
  return (
    wanted?.some(
      (text) => text === '*' || text === given || (subresource !== '' && text === `*/${subresource}`),
    ) ?? false
  );
}

function nameMatches(wanted: readonly string[] = [], given: string): boolean {
  return wanted.length === 0 || wanted.includes(given);
}

function pathMatches(wanted: readonly string[] | undefined, path: string): boolean {
  return wanted?.some((text) => text === path || pathCovers(text, path)) ?? false;
}

/** `/healthz/*` covers all paths below; trailing stars count as one. */
export function pathCovers(pattern: string, path: string): boolean {
  return pattern.endsWith('*') && path.startsWith(trimmedEnd(pattern, '*'));
}
