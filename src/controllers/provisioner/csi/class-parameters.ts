import type { StringMap } from '../../../kube/api/meta.ts';
import { type RefusedOutcome, refusedOutcome } from '../provisioner.ts';

/** Keys with this prefix are for Kubernetes, not for the driver. */
const reservedPrefix = 'csi.storage.k8s.io/';
const fsTypeKey = `${reservedPrefix}fstype`;
const deprecatedFsTypeKey = 'fstype';

/** The use of a Secret. */
export type SecretUse =
  | 'provisioner'
  | 'controller-publish'
  | 'node-stage'
  | 'node-publish'
  | 'controller-expand'
  | 'node-expand';

/** For each use, the key before `csi.storage.k8s.io/` had them; the newer uses have none. */
const secretUses: Readonly<Record<SecretUse, string | undefined>> = {
  provisioner: 'csiProvisionerSecret',
  'controller-publish': 'csiControllerPublishSecret',
  'node-stage': 'csiNodeStageSecret',
  'node-publish': 'csiNodePublishSecret',
  'controller-expand': undefined,
  'node-expand': undefined,
};

/** Name and namespace of a Secret, before variables such as `${pvc.name}` are replaced. */
export interface SecretTemplate {
  readonly name: string;
  readonly namespace: string;
}

/** The parameters of a class, divided. */
export interface ClassParameters {
  readonly kind: 'read';
  readonly forDriver: StringMap;
  /** Undefined if the class does not name a file system. */
  readonly fsType: string | undefined;
  readonly secrets: ReadonlyMap<SecretUse, SecretTemplate>;
}

/** Reads the parameters of a class as external-provisioner does: unknown reserved keys are refused, known ones do not reach the driver. */
export function readClassParameters(given: StringMap | undefined): ClassParameters | RefusedOutcome {
  const parameters = given ?? {};
  const fsTypes = Object.keys(parameters).filter((key) => isFsType(key));
  if (fsTypes.length > 1)
    return refuse(`the class has the parameters ${fsTypes.join(' and ')}; leave one of them`);
  const secrets = new Map<SecretUse, SecretTemplate>();
  const known = new Set(fsTypes);
  for (const [use, deprecated] of Object.entries(secretUses) as [SecretUse, string | undefined][]) {
    const names = keysOf(`${reservedPrefix}${use}-secret-name`, deprecated && `${deprecated}Name`);
    const namespaces = keysOf(
      `${reservedPrefix}${use}-secret-namespace`,
      deprecated && `${deprecated}Namespace`,
    );
    const [name, ...moreNames] = present(parameters, names, known);
    const [namespace, ...moreNamespaces] = present(parameters, namespaces, known);
    if (moreNames.length + moreNamespaces.length > 0)
      return refuse(`the class names the Secret for ${use} twice; remove ${deprecated}Name and -Namespace`);
    if (name === undefined && namespace === undefined) continue;
    if (name === undefined || namespace === undefined || name === '' || namespace === '')
      return refuse(`the class must give both ${names[0]} and ${namespaces[0]}`);
    secrets.set(use, { name, namespace });
  }
  const unknown = Object.keys(parameters).find((key) => key.startsWith(reservedPrefix) && !known.has(key));
  if (unknown !== undefined)
    return refuse(`found unknown parameter key "${unknown}" with reserved namespace ${reservedPrefix}`);
  const forDriver = Object.fromEntries(Object.entries(parameters).filter(([key]) => !known.has(key)));
  const fsType = fsTypes[0] === undefined ? undefined : parameters[fsTypes[0]];
  return { kind: 'read', forDriver, fsType, secrets };
}

function refuse(message: string): RefusedOutcome {
  return refusedOutcome(message, 'change');
}

function isFsType(key: string): boolean {
  return [fsTypeKey, deprecatedFsTypeKey].includes(key.toLowerCase());
}

function keysOf(current: string, deprecated: string | undefined): readonly string[] {
  return deprecated === undefined ? [current] : [current, deprecated];
}

/** The values of the keys that the class has; the keys become known. */
function present(parameters: StringMap, keys: readonly string[], known: Set<string>): readonly string[] {
  return keys.flatMap((key) => {
    const value = parameters[key];
    if (value === undefined) return [];
    known.add(key);
    return [value];
  });
}
