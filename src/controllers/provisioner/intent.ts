import type { ResourceClient } from '../../cluster/cluster.ts';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { annotations } from '../../kube/well-known.ts';
import { lookUp } from '../../kube/wire.ts';
import { provisionerOf, selectedNodeAnnotations } from './claim-demand.ts';

/** On a claim: this provisioner is creating a volume for it. The finalizer keeps the claim until that is recorded or undone. */
export const intentAnnotation = 'stowage.dev/provisioning';
export const intentFinalizer = 'stowage.dev/provisioning';
/** Beside the intent: what a repetition needs to send the same arguments. */
const recordAnnotation = 'stowage.dev/provisioning-record';

export interface ProvisioningIntent {
  readonly provisioner: string;
  /** Empty if no node was selected. */
  readonly node: string;
  /** The record of the plan, if it has one. */
  readonly record?: string | undefined;
}

/** Undefined if no volume is being created. */
export function intentOf(claim: PersistentVolumeClaim): ProvisioningIntent | undefined {
  if (!(claim.metadata?.finalizers ?? []).includes(intentFinalizer)) return undefined;
  // A user may have removed the annotation; the finalizer still says that there may be something to undo.
  const text = lookUp(claim.metadata?.annotations, intentAnnotation) ?? provisionerOf(claim);
  const [provisioner = '', node = ''] = text.split(' ');
  return { provisioner, node, record: lookUp(claim.metadata?.annotations, recordAnnotation) };
}

/** Writes the intent to the version of the claim that was read; if another client changed the claim meanwhile, this fails with `Conflict`. */
export function storeIntent(
  client: ResourceClient<PersistentVolumeClaim>,
  claim: PersistentVolumeClaim,
  { provisioner, node, record }: ProvisioningIntent,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const others = (claim.metadata?.finalizers ?? []).filter((name) => name !== intentFinalizer);
  const change = {
    annotations: {
      [intentAnnotation]: node === '' ? provisioner : `${provisioner} ${node}`,
      // A record that is left over from an earlier attempt would describe another request.
      [recordAnnotation]: record ?? null,
    },
    finalizers: [...others, intentFinalizer],
  };
  return patchMetadata(client, claim, change, signal);
}

export interface ClearIntentOptions {
  /** Makes the scheduler choose again. */
  readonly dropsSelectedNode?: boolean;
}

/** Removes the intent, and the selected node with it if that node cannot be used: one write for both. */
export async function clearIntent(
  client: ResourceClient<PersistentVolumeClaim>,
  claim: PersistentVolumeClaim,
  options: ClearIntentOptions,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const selected = options.dropsSelectedNode ? [...selectedNodeAnnotations, annotations.fittingTopology] : [];
  const present = [intentAnnotation, recordAnnotation, ...selected].filter(
    (key) => lookUp(claim.metadata?.annotations, key) !== undefined,
  );
  const finalizers = claim.metadata?.finalizers ?? [];
  const kept = finalizers.filter((name) => name !== intentFinalizer);
  if (present.length === 0 && kept.length === finalizers.length) return claim;
  const change = {
    annotations: Object.fromEntries(present.map((key) => [key, null])),
    finalizers: kept.length === 0 ? null : kept,
  };
  return await patchMetadata(client, claim, change, signal);
}

interface MetadataChange {
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly finalizers: readonly string[] | null;
}

function patchMetadata(
  client: ResourceClient<PersistentVolumeClaim>,
  { metadata }: PersistentVolumeClaim,
  change: MetadataChange,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const { uid, resourceVersion, namespace, name = '' } = metadata ?? {};
  const body = { metadata: { uid, resourceVersion, ...change } };
  return client.patch({ namespace, name }, { type: 'merge', body }, { signal });
}
