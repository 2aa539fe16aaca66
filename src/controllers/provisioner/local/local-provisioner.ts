import { matchesNode } from '../../../kube/selectors/node-selector.ts';
import { compileTopologySelector } from '../../../kube/selectors/topology-selector.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { labels } from '../../../kube/well-known.ts';
import { lookUp } from '../../../kube/wire.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import {
  type ProvisionedAsset,
  type Provisioner,
  type ProvisionRequest,
  refusedOutcome,
  type VolumeCreateOutcome,
  type VolumePlan,
  type VolumePlanOutcome,
} from '../provisioner.ts';
import { refuseUnsupported } from '../unsupported.ts';
import { LocalRoot, LocalRootError } from './local-root.ts';

const name = 'local.stowage.dev';

/** Directories of this machine, each reachable only from the node that was selected for it. */
export function localProvisioner(rootPath: string): Provisioner {
  const root = new LocalRoot(rootPath);
  return {
    name,
    plan: planLocal,
    create: (plan) => createDirectory(root, plan),
    delete: (asset) => deleteDirectory(root, asset),
  };
}

function planLocal(request: ProvisionRequest): VolumePlanOutcome {
  const { asset, claim, storageClass, selectedNode } = request;
  const unsupported = refuseUnsupported(name, request);
  if (unsupported !== undefined) return unsupported;
  const [option] = Object.keys(storageClass.parameters ?? {});
  if (option !== undefined)
    return refusedOutcome(
      `invalid option "${option}" for volume plugin ${name}; remove it, the plugin has no options`,
    );
  if (volumeModeOf(claim) === 'Block')
    return refusedOutcome('a directory is not a block device; set spec.volumeMode to Filesystem');
  if (selectedNode === undefined)
    return refusedOutcome(
      `${name} creates a volume on the node of the pod; set the class's volumeBindingMode to WaitForFirstConsumer`,
    );
  const node = selectedNode.metadata?.name ?? '';
  const allowed = compileTopologySelector(storageClass.allowedTopologies);
  if (allowed !== undefined && !matchesNode(allowed, node, selectedNode.metadata?.labels))
    return refusedOutcome(`node "${node}" is not among the class's allowedTopologies`);
  const hostname = lookUp(selectedNode.metadata?.labels, labels.hostname);
  if (hostname === undefined) return refusedOutcome(`node "${node}" has no label ${labels.hostname}`);
  // The path is known when the directory exists.
  return { kind: 'planned', plan: { asset, source: { local: {} }, nodeAffinity: affinityTo(hostname) } };
}

async function createDirectory(root: LocalRoot, plan: VolumePlan): Promise<VolumeCreateOutcome> {
  try {
    const path = await root.create(plan.asset.claimUid);
    return { kind: 'created', volume: { ...plan, source: { local: { path } } } };
  } catch (error) {
    // An empty directory may be left; if it cannot be removed either, the outcome is unknown, and the caller retries.
    if (!(error instanceof LocalRootError)) await root.remove(plan.asset.claimUid);
    return refusedOutcome(messageOf(error));
  }
}

/** A volume contains its path; one with another path than ours must not be removed. */
async function deleteDirectory(root: LocalRoot, { claimUid, volume }: ProvisionedAsset): Promise<void> {
  if (volume !== undefined) {
    const path = await root.pathFor(claimUid);
    const actualPath = volume.spec?.local?.path;
    if (actualPath !== path)
      throw new LocalRootError(`volume is at ${actualPath ?? 'no path'}, not at ${path}; remove it by hand`);
  }
  await root.remove(claimUid);
}

function affinityTo(hostname: string) {
  const matchExpressions = [{ key: labels.hostname, operator: 'In' as const, values: [hostname] }];
  return { required: { nodeSelectorTerms: [{ matchExpressions }] } };
}
