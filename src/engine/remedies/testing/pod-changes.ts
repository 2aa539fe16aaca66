/** Changes pods as a user does who follows the text of a step. */
import type { Pod, Taint } from '../../../kube/api/core.ts';
import {
  changePodSpec,
  itemsIn,
  listed,
  type MatchedGroups,
  objectName,
  type RemedySituation,
  withList,
} from './remedy-situation.ts';

type SpecChange = (spec: NonNullable<Pod['spec']>) => Pod['spec'];
type Effect = NonNullable<Taint['effect']>;

export function tolerating(texts: string): SpecChange {
  const added = itemsIn(texts).map((text) => {
    const [, key = '', value, effect = 'NoSchedule'] = /^(.+?)(?:=(.*))?:(\w+)$/.exec(text) ?? [];
    return value === undefined
      ? { key, operator: 'Exists' as const, effect: effect as Effect }
      : { key, operator: 'Equal' as const, value, effect: effect as Effect };
  });
  return (spec) => ({ ...spec, tolerations: [...(spec.tolerations ?? []), ...added] });
}

export function selectingLess(text: string, dropsAffinity: boolean): SpecChange {
  const labels = itemsIn(text);
  return ({ nodeSelector, affinity, ...spec }) => ({
    ...spec,
    nodeSelector: Object.fromEntries(
      Object.entries(nodeSelector ?? {}).filter(([key, value]) => !labels.includes(`${key}=${value}`)),
    ),
    affinity: {
      ...affinity,
      ...(dropsAffinity ? { nodeAffinity: {} } : {}),
    },
  });
}

/** Puts the whole request into the first container; the other containers request nothing. */
export function requesting(resource: string, total: string): SpecChange {
  return (spec) => ({
    ...spec,
    containers: (spec.containers ?? []).map((container, at) => ({
      ...container,
      resources: { requests: { ...container.resources?.requests, [resource]: at === 0 ? total : '0' } },
    })),
  });
}

export function raiseSkew([key, from, to]: MatchedGroups, before: RemedySituation): RemedySituation {
  return changePodSpec(before, (spec) => ({
    ...spec,
    topologySpreadConstraints: (spec.topologySpreadConstraints ?? []).map((constraint) =>
      constraint.topologyKey === key && constraint.maxSkew === Number(from)
        ? { ...constraint, maxSkew: Number(to) }
        : constraint,
    ),
  }));
}

export function preferAffinity([what]: MatchedGroups, before: RemedySituation): RemedySituation {
  const part = what === 'affinity' ? 'podAffinity' : 'podAntiAffinity';
  return changePodSpec(before, (spec) => {
    const required = spec.affinity?.[part]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const preferred = required.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm }));
    return {
      ...spec,
      affinity: { ...spec.affinity, [part]: { preferredDuringSchedulingIgnoredDuringExecution: preferred } },
    };
  });
}

export function withoutPods([names = '']: MatchedGroups, before: RemedySituation): RemedySituation {
  const removed = new Set(itemsIn(names));
  const list = listed(before, 'Pod');
  const left = list.filter((pod) => !removed.has(objectName('Pod', pod)));
  if (list.length - left.length !== removed.size)
    throw new Error(`some of these pods do not exist: ${names}`);
  return withList(before, 'Pod', left);
}
