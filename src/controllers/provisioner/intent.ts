import type { ResourceClient } from '../../cluster/cluster.ts';
import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { lookUp } from '../../kube/wire.ts';
import { provisionerOf, selectedNodeAnnotations } from './claim-demand.ts';

/** On a claim: a volume is being made for it, here. The finalizer keeps the claim until that is recorded or undone. */
export const intentAnnotation = 'stowage.dev/provisioning';
export const intentFinalizer = 'stowage.dev/provisioning';

export interface ProvisioningIntent {
  readonly provisioner: string;
  /** Empty where no node was selected. */
  readonly node: string;
}

/** Undefined where nobody is making a volume. */
export function intentOf(claim: PersistentVolumeClaim): ProvisioningIntent | undefined {
  if (!(claim.metadata?.finalizers ?? []).includes(intentFinalizer)) return undefined;
  // Somebody may have taken the annotation off by hand; the finalizer still says that there may be something to undo.
  const text = lookUp(claim.metadata?.annotations, intentAnnotation) ?? provisionerOf(claim);
  const [provisioner = '', node = ''] = text.split(' ');
  return { provisioner, node };
}

/** Stores the intent on the very version of the claim that was judged; whoever changed it makes this fail with `Conflict`. */
export function storeIntent(
  client: ResourceClient<PersistentVolumeClaim>,
  claim: PersistentVolumeClaim,
  { provisioner, node }: ProvisioningIntent,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const others = (claim.metadata?.finalizers ?? []).filter((name) => name !== intentFinalizer);
  const change = {
    annotations: { [intentAnnotation]: node === '' ? provisioner : `${provisioner} ${node}` },
    finalizers: [...others, intentFinalizer],
  };
  return patchMetadata(client, claim, change, signal);
}

export interface ClearIntentOptions {
  /** Asks the scheduler to choose again. */
  readonly dropsSelectedNode?: boolean;
}

/** Takes the intent off, and the selected node with it where that has proved to be the wrong one: one write for both. */
export async function clearIntent(
  client: ResourceClient<PersistentVolumeClaim>,
  claim: PersistentVolumeClaim,
  options: ClearIntentOptions,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const selected = options.dropsSelectedNode ? selectedNodeAnnotations : [];
  const present = [intentAnnotation, ...selected].filter(
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
