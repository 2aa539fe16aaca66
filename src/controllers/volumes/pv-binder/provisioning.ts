import type { ClassRecord } from '../../../engine/records/class-record.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { csiDriverForProvisioner } from '../../../kube/legacy/in-tree-migration.ts';
import { annotations } from '../../../kube/well-known.ts';
import type { BinderEvent } from './binder-events.ts';

/** The prefix of plugins that were once built into Kubernetes; all others are external provisioners. */
const inTreePrefix = 'kubernetes.io/';

export type Provisioning =
  | { readonly ok: true; readonly provisioner: string; readonly event: BinderEvent }
  | { readonly ok: false; readonly event: BinderEvent };

/** The provisioner of a class. Ours are external provisioners like all others: they start when they see the claim's annotation. */
export function provisioningOf(storageClass: ClassRecord | undefined, className: string): Provisioning {
  if (storageClass === undefined) return failed(`storageclass.storage.k8s.io "${className}" not found`);
  const { provisioner: named } = storageClass;
  const driver = csiDriverForProvisioner(named);
  if (driver === undefined && (named === '' || named.startsWith(inTreePrefix)))
    return failed(`no volume plugin matched name: ${named}`);
  const provisioner = driver ?? named;
  const note =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' ` +
    'or manually by the system administrator. If volume creation is delayed, please verify that ' +
    'the provisioner is running and correctly registered.';
  return { ok: true, provisioner, event: { type: 'Normal', reason: 'ExternalProvisioning', note } };
}

function failed(note: string): Provisioning {
  return { ok: false, event: { type: 'Warning', reason: 'ProvisioningFailed', note } };
}

/** The newest class that is marked as default; of equally old ones the first by name. */
export function defaultClassOf(classes: Iterable<StorageClass>): string | undefined {
  let best: StorageClass | undefined;
  for (const candidate of classes) {
    if (isDefaultClass(candidate) && (best === undefined || isPreferred(candidate, best))) best = candidate;
  }
  return best?.metadata?.name;
}

function isDefaultClass({ metadata }: StorageClass): boolean {
  const { isDefaultClass: current, betaIsDefaultClass: beta } = annotations;
  return metadata?.annotations?.[current] === 'true' || metadata?.annotations?.[beta] === 'true';
}

/** Timestamps have one form, to the second, in UTC: their texts sort like their times. */
function isPreferred(a: StorageClass, b: StorageClass): boolean {
  const [ours = '', theirs = ''] = [a.metadata?.creationTimestamp, b.metadata?.creationTimestamp];
  return ours === theirs ? (a.metadata?.name ?? '') < (b.metadata?.name ?? '') : ours > theirs;
}
