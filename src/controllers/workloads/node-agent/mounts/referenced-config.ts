import type { ConfigMap, Container, EnvVarSource, Pod, Secret, Volume } from '../../../../kube/api/core.ts';

/** Finds the Secrets and ConfigMaps of a pod's namespace. */
export interface ConfigLookup {
  secret(name: string): Pick<Secret, 'data'> | undefined;
  configMap(name: string): Pick<ConfigMap, 'data' | 'binaryData'> | undefined;
}

/** A reference to a Secret or ConfigMap, in a volume or a container. */
interface ConfigReference {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  readonly keys: readonly string[];
  readonly isOptional: boolean;
}

/** Why a volume of Secrets or ConfigMaps cannot be mounted, in the kubelet's words; undefined if it can. */
export function missingVolumeConfig(lookup: ConfigLookup, volume: Volume): string | undefined {
  for (const reference of volumeReferences(volume)) {
    const missing = missingObject(lookup, reference);
    if (missing !== undefined) return missing;
    const key = missingKey(lookup, reference);
    const kind = reference.kind === 'Secret' ? 'secret' : 'config';
    if (key !== undefined) return `references non-existent ${kind} key: ${key}`;
  }
  return undefined;
}

/** Why a container cannot be created, in the kubelet's words; undefined if its environment is complete. */
export function missingEnvironment(lookup: ConfigLookup, pod: Pod, container: Container): string | undefined {
  for (const reference of environmentReferences(container)) {
    const missing = missingObject(lookup, reference);
    if (missing !== undefined) return missing;
    const key = missingKey(lookup, reference);
    if (key !== undefined)
      return `couldn't find key ${key} in ${reference.kind} ${pod.metadata?.namespace}/${reference.name}`;
  }
  return undefined;
}

function volumeReferences({ secret, configMap, projected }: Volume): readonly ConfigReference[] {
  const sources = [
    {
      ...(secret === undefined ? {} : { secret: { ...secret, name: secret.secretName ?? '' } }),
      ...(configMap === undefined ? {} : { configMap }),
    },
    ...(projected?.sources ?? []),
  ];
  return sources.flatMap((source) => [
    ...(source.secret === undefined ? [] : [referenceOf('Secret', source.secret)]),
    ...(source.configMap === undefined ? [] : [referenceOf('ConfigMap', source.configMap)]),
  ]);
}

/** `envFrom` first, as in a kubelet. */
function environmentReferences({ envFrom = [], env = [] }: Container): readonly ConfigReference[] {
  const whole = envFrom.flatMap(({ configMapRef, secretRef }) => [
    ...(configMapRef === undefined ? [] : [referenceOf('ConfigMap', configMapRef)]),
    ...(secretRef === undefined ? [] : [referenceOf('Secret', secretRef)]),
  ]);
  return [
    ...whole,
    ...env.flatMap(({ valueFrom }) => (valueFrom === undefined ? [] : keyReferences(valueFrom))),
  ];
}

function keyReferences({ configMapKeyRef, secretKeyRef }: EnvVarSource): readonly ConfigReference[] {
  return [
    ...(configMapKeyRef === undefined ? [] : [referenceOf('ConfigMap', configMapKeyRef)]),
    ...(secretKeyRef === undefined ? [] : [referenceOf('Secret', secretKeyRef)]),
  ];
}

interface ReferenceFields {
  readonly name?: string;
  readonly key?: string;
  readonly items?: readonly { readonly key?: string }[];
  readonly optional?: boolean;
}

function referenceOf(
  kind: ConfigReference['kind'],
  { name = '', key, items = [], optional = false }: ReferenceFields,
): ConfigReference {
  const keys = [...(key === undefined ? [] : [key]), ...items.flatMap((item) => item.key ?? [])];
  return { kind, name, keys, isOptional: optional };
}

function missingObject(
  lookup: ConfigLookup,
  { kind, name, isOptional }: ConfigReference,
): string | undefined {
  const found = kind === 'Secret' ? lookup.secret(name) : lookup.configMap(name);
  return found === undefined && !isOptional ? `${kind.toLowerCase()} "${name}" not found` : undefined;
}

function missingKey(
  lookup: ConfigLookup,
  { kind, name, keys, isOptional }: ConfigReference,
): string | undefined {
  if (isOptional) return undefined;
  const present =
    kind === 'Secret'
      ? lookup.secret(name)?.data
      : { ...lookup.configMap(name)?.data, ...lookup.configMap(name)?.binaryData };
  return keys.find((key) => !Object.hasOwn(present ?? {}, key));
}
