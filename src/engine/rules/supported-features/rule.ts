/**
 * Refuses pods that use a feature that the engine does not support, and names the feature, instead of placing them as if they did not use
 * it. An unknown value that can only make a pod fit less (a toleration, a term of a node selector) is left to its rule, as in
 * kube-scheduler.
 */
import { isRecord, listOf } from '../../../kube/wire.ts';
import { memoByShape, type ShapeContainer, type ShapeSpec } from '../../records/pod-shape/pod-shape.ts';
import { type PodRefusal, type Rule, skip } from '../framework/rule.ts';
import { podMessage } from '../reasons.ts';
import { isOwnSpecChange } from '../wake-conditions/own-spec.ts';

export const supportedFeaturesRule: Rule<never> = {
  name: 'SupportedFeatures',
  reasons: [],
  prepare: ({ pod }) => {
    const refusals = refusalsOf(pod.shape);
    return refusals.length === 0 ? skip : { kind: 'refuse', refusals };
  },
  filter: () => {},
  explain: () => [],
  // The search for remedies calls every rule, also in an empty cluster, to find out whether a new node helps.
  wakes: (interest, change) =>
    isOwnSpecChange(interest, change) ||
    (change.kind === 'Node' && refusalsOf(interest.pod.shape).length === 0),
  invalidates: isOwnSpecChange,
};

const refusalsOf = memoByShape((spec): readonly PodRefusal[] => [
  ...unsupported(spec).map((feature) => refusal('UnsupportedFeature', feature)),
  ...unknownValues(spec).map((value) => refusal('UnknownFieldValue', value)),
]);

function refusal(reason: 'UnsupportedFeature' | 'UnknownFieldValue', what: string): PodRefusal {
  return {
    reason,
    claim: undefined,
    message: podMessage(reason, { feature: what, value: what }),
  };
}

function unsupported(spec: ShapeSpec): string[] {
  const deviceClaims = [
    ...claimsIn(spec.containers, 'spec.containers'),
    ...claimsIn(spec.initContainers, 'spec.initContainers'),
    ...(isUsed(spec.resources?.claims) ? ['spec.resources.claims'] : []),
  ];
  return [
    ...(isUsed(spec.resourceClaims) ? ['spec.resourceClaims (dynamic resource allocation)'] : []),
    ...deviceClaims.map((field) => `${field} (dynamic resource allocation)`),
    ...[...deviceResourcesIn(spec.containers), ...deviceResourcesIn(spec.initContainers)].map(
      (resource) => `the resource ${resource} (dynamic resource allocation)`,
    ),
    ...(isUsed(spec.schedulingGroup) ? ['spec.schedulingGroup (pod groups)'] : []),
  ];
}

function claimsIn(containers: readonly ShapeContainer[], field: string): string[] {
  return containers.flatMap(({ resources }, at) =>
    isUsed(resources?.claims) ? [`${field}[${at}].resources.claims`] : [],
  );
}

/** Kubernetes 1.36 serves a resource of this name by a ResourceClaim for the DeviceClass that it names; no node advertises it. */
const deviceClassPrefix = 'deviceclass.resource.kubernetes.io/';

function deviceResourcesIn(containers: readonly ShapeContainer[]): string[] {
  const names = containers.flatMap(({ resources }) => [
    ...Object.keys(isRecord(resources?.requests) ? resources.requests : {}),
    ...Object.keys(isRecord(resources?.limits) ? resources.limits : {}),
  ]);
  return [...new Set(names)].filter((name) => name.startsWith(deviceClassPrefix));
}

/** An empty list asks for nothing. */
function isUsed(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

const knownValues = {
  whenUnsatisfiable: ['DoNotSchedule', 'ScheduleAnyway'],
  nodeAffinityPolicy: ['Honor', 'Ignore'],
  nodeTaintsPolicy: ['Honor', 'Ignore'],
} as const;

/** A constraint with an unknown value would have no effect. */
function unknownValues({ topologySpreadConstraints }: ShapeSpec): string[] {
  return listOf(topologySpreadConstraints).flatMap((constraint: unknown, at) =>
    Object.entries(knownValues).flatMap(([field, known]) => {
      const value = isRecord(constraint) ? constraint[field] : undefined;
      const isOptional = field !== 'whenUnsatisfiable';
      if ((isOptional && (value === undefined || value === null)) || known.some((one) => one === value))
        return [];
      return [`${shown(value)} in spec.topologySpreadConstraints[${at}].${field}`];
    }),
  );
}

const shownMax = 80;

function shown(value: unknown): string {
  return value === undefined ? 'no value' : JSON.stringify(value).slice(0, shownMax);
}
