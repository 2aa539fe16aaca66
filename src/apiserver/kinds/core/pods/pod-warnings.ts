import type {
  ContainerPort,
  NodeSelectorTerm,
  PodAffinity,
  PodSpec,
  Volume,
} from '../../../../kube/api/stored/core.ts';
import type { ObjectMeta } from '../../../../kube/api/stored/meta.ts';
import { goQuoted } from '../../../../kube/go/quote.ts';
import {
  nodeLabelDeprecation,
  nodeSelectorTermWarnings,
} from '../../../validation/deprecated-node-labels.ts';
import { labelValueProblems } from '../../../validation/names.ts';
import { isWholeQuantity } from '../../../validation/quantities.ts';
import type { MutableResourceList } from '../resources/resource-list.ts';
import { claimSpecWarnings } from '../volumes/claim-spec-rules.ts';
import { type AnyContainer, eachContainer } from './containers.ts';
import type { PodLike } from './pod-annotations.ts';
import { overlapWarnings } from './volume-overlaps.ts';

/**
 * Warnings about a pod (`prefix` is empty) or a pod template (`spec.template.`): what is valid but probably a mistake.
 */
export function podWarnings({ metadata, spec }: PodLike, prefix = ''): readonly string[] {
  const path = `${prefix}spec`;
  return [
    ...placementWarnings(path, spec),
    ...annotationWarnings(`${prefix}metadata.annotations`, metadata?.annotations ?? {}),
    ...(spec.volumes ?? []).flatMap((volume, index) => volumeWarnings(`${path}.volumes[${index}]`, volume)),
    ...overlapWarnings(spec.volumes ?? []),
    ...duplicates(
      `${path}.hostAliases`,
      'ip',
      spec.hostAliases?.map(({ ip }) => ip),
    ),
    ...duplicates(
      `${path}.imagePullSecrets`,
      'name',
      spec.imagePullSecrets?.map(({ name = '' }) => name),
    ),
    ...emptySecretWarnings(`${path}.imagePullSecrets`, spec),
    ...fractionWarnings(`${path}.overhead`, spec.overhead),
    ...containerWarnings(prefix, metadata, spec),
    ...portWarnings(path, spec),
    ...portNameWarnings(path, spec),
    ...graceWarnings(path, spec),
    ...affinityWarnings(`${path}.affinity.podAffinity`, spec.affinity?.podAffinity),
    ...affinityWarnings(`${path}.affinity.podAntiAffinity`, spec.affinity?.podAntiAffinity),
  ];
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
const matchesNothing = 'a null labelSelector results in matching no pod';

function placementWarnings(path: string, spec: PodSpec): readonly string[] {
  const affinity = spec.affinity?.nodeAffinity;
  const field = `${path}.affinity.nodeAffinity`;
  const terms = affinity?.[required]?.nodeSelectorTerms ?? [];
  return [
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) => {
      const deprecation = nodeLabelDeprecation(key);
      return deprecation === undefined ? [] : [`${path}.nodeSelector[${key}]: ${deprecation}`];
    }),
    ...terms.flatMap((term, index) =>
      nodeSelectorTermWarnings(`${field}.${required}.nodeSelectorTerms[${index}]`, term),
    ),
    ...(affinity?.[preferred] ?? []).flatMap(({ preference }, index) =>
      preferenceWarnings(`${field}.${preferred}[${index}].preference`, preference),
    ),
    ...(spec.topologySpreadConstraints ?? []).flatMap(({ topologyKey, labelSelector }, index) => {
      const at = `${path}.topologySpreadConstraints[${index}]`;
      const deprecation = nodeLabelDeprecation(topologyKey);
      return [
        ...(deprecation === undefined ? [] : [`${at}.topologyKey: ${topologyKey} is ${deprecation}`]),
        ...(labelSelector ? [] : [`${at}.labelSelector: ${matchesNothing}`]),
      ];
    }),
  ];
}

/** Preferences may contain values that no label can have. They never match. */
function preferenceWarnings(field: string, term: NodeSelectorTerm): readonly string[] {
  const values = (term.matchExpressions ?? []).flatMap((expression, index) =>
    (expression.values ?? []).flatMap((value, valueIndex) =>
      labelValueProblems(value).map(
        (problem) =>
          `${field}.matchExpressions[${index}].values[${valueIndex}]: ${value} is invalid, ${problem}`,
      ),
    ),
  );
  return [...nodeSelectorTermWarnings(field, term), ...values];
}

const removedAnnotations: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod':
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

function annotationWarnings(field: string, annotations: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(removedAnnotations)
    .filter(([key]) => annotations[key] !== undefined)
    .map(([key, deprecation]) => `${field}[${key}]: ${deprecation}`);
}

/** Plugins that Kubernetes has removed: the pod is accepted but never starts. */
const removedVolumePlugins = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;

function volumeWarnings(at: string, volume: Volume): readonly string[] {
  const claim = volume.ephemeral?.volumeClaimTemplate;
  return [
    ...removedVolumePlugins
      .filter(([source]) => volume[source] !== undefined)
      .map(([, shown, deprecation]) => `${at}.${shown}: ${deprecation}`),
    ...(claim ? claimSpecWarnings(`${at}.ephemeral.volumeClaimTemplate.spec`, claim.spec) : []),
  ];
}

function duplicates(field: string, name: string, values: readonly string[] = []): readonly string[] {
  return values.flatMap((value, index) =>
    values.indexOf(value) < index ? [`${field}[${index}].${name}: duplicate ${name} ${goQuoted(value)}`] : [],
  );
}

function emptySecretWarnings(field: string, spec: PodSpec): readonly string[] {
  return (spec.imagePullSecrets ?? []).flatMap(({ name }, index) =>
    name ? [] : [`${field}[${index}].name: invalid empty name ""`],
  );
}

function fractionWarnings(
  field: string,
  list: MutableResourceList | undefined,
  only?: string,
): readonly string[] {
  return ['memory', 'ephemeral-storage'].flatMap((name) => {
    const text = list?.[name];
    if (text === undefined || isWholeQuantity(text) || (only && name !== only)) return [];
    return [`${field}[${name}]: fractional byte value ${goQuoted(text)} is invalid, must be an integer`];
  });
}

const podSeccomp = 'seccomp.security.alpha.kubernetes.io/pod';
const containerSeccomp = 'container.seccomp.security.alpha.kubernetes.io/';

/** Seccomp annotations without the field have no effect. */
function seccompWarnings(
  prefix: string,
  annotations: Readonly<Record<string, string>> | undefined,
  key: string,
): readonly string[] {
  if (annotations?.[key] === undefined) return [];
  const what = 'non-functional in v1.27+; use the "seccompProfile" field instead';
  return [`${prefix}metadata.annotations[${key}]: ${what}`];
}

function containerWarnings(prefix: string, metadata: ObjectMeta, spec: PodSpec): readonly string[] {
  const annotations = metadata?.annotations;
  const warnings: string[] = [];
  if (!spec.securityContext?.seccompProfile) {
    warnings.push(...seccompWarnings(prefix, annotations, podSeccomp));
  }
  eachContainer(spec, `${prefix}spec`, (container, at) => {
    if (!container.securityContext?.seccompProfile) {
      warnings.push(...seccompWarnings(prefix, annotations, `${containerSeccomp}${container.name}`));
    }
    for (const name of ['memory', 'ephemeral-storage']) {
      warnings.push(...fractionWarnings(`${at}.resources.limits`, container.resources?.limits, name));
      warnings.push(...fractionWarnings(`${at}.resources.requests`, container.resources?.requests, name));
    }
    warnings.push(...envWarnings(`${at}.env`, container));
  });
  return warnings;
}

/** A repeated definition is fine if it refers to the first one. */
function envWarnings(field: string, { env = [] }: AnyContainer): readonly string[] {
  const seen = new Set<string>();
  return env.flatMap(({ name, value = '', valueFrom }, index) => {
    const reference = `$(${name})`;
    const hides = valueFrom !== undefined || value === reference || !value.includes(reference);
    const isSecond = seen.has(name);
    seen.add(name);
    if (!isSecond || !hides) return [];
    const what = `hides previous definition of ${goQuoted(name)}, which may be dropped when using apply`;
    return [`${field}[${index}]: ${what}`];
  });
}

interface PortAt {
  readonly port: ContainerPort;
  readonly at: string;
}

function portWarnings(path: string, spec: PodSpec): readonly string[] {
  const byNumber = new Map<string, PortAt[]>();
  const warnings: string[] = [];
  eachContainer(spec, path, ({ ports }, container) => {
    ports?.forEach((port, index) => {
      const at = `${container}.ports[${index}]`;
      const key = `${port.containerPort}/${port.protocol}`;
      if (port.hostIP && !port.hostPort)
        warnings.push(`${at}: hostIP set without hostPort: ${shownPort(port)}`);
      const others = byNumber.get(key) ?? [];
      for (const other of others) {
        const kind = overlapOf(port, other.port);
        if (kind !== undefined) warnings.push(`${at}: ${kind} port definition with ${other.at}`);
      }
      byNumber.set(key, [...others, { port, at }]);
    });
  });
  return warnings;
}

function shownPort({
  name = '',
  hostPort = 0,
  containerPort,
  protocol = '',
  hostIP = '',
}: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}

function overlapOf(port: ContainerPort, other: ContainerPort): string | undefined {
  const [ip, otherIp] = [port.hostIP ?? '', other.hostIP ?? ''];
  const [host, otherHost] = [port.hostPort ?? 0, other.hostPort ?? 0];
  if (ip === otherIp && host === otherHost) return 'duplicate';
  if (host === 0 || otherHost === 0) return 'overlapping';
  return host === otherHost && (ip === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined;
}

function portNameWarnings(path: string, spec: PodSpec): readonly string[] {
  const byName = new Map<string, string>();
  const warnings: string[] = [];
  eachContainer(spec, path, ({ ports }, container) => {
    ports?.forEach(({ name = '' }, index) => {
      const at = `${container}.ports[${index}]`;
      const other = byName.get(name);
      if (name === '') return;
      if (other === undefined) byName.set(name, at);
      else {
        const effect = `services and probes that select ports by name will use ${other}`;
        warnings.push(`${at}: duplicate port name ${goQuoted(name)} with ${other}, ${effect}`);
      }
    });
  });
  return warnings;
}

function graceWarnings(
  path: string,
  { terminationGracePeriodSeconds: seconds = 0 }: PodSpec,
): readonly string[] {
  if (seconds >= 0) return [];
  const what = 'must be >= 0; negative values are invalid and will be treated as 1';
  return [`${path}.terminationGracePeriodSeconds: ${what}`];
}

function affinityWarnings(field: string, affinity: PodAffinity | undefined): readonly string[] {
  const requiredTerms = (affinity?.[required] ?? []).map(({ labelSelector }, index) =>
    labelSelector ? undefined : `${field}.${required}[${index}].labelSelector`,
  );
  const preferredTerms = (affinity?.[preferred] ?? []).map(({ podAffinityTerm }, index) =>
    podAffinityTerm.labelSelector
      ? undefined
      : `${field}.${preferred}[${index}].podAffinityTerm.labelSelector`,
  );
  return [...requiredTerms, ...preferredTerms].flatMap((at) =>
    at === undefined ? [] : [`${at}: ${matchesNothing}`],
  );
}
