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
  type VolumeMakeOutcome,
  type VolumePlan,
  type VolumePlanOutcome,
} from '../provisioner.ts';
import { refuseUnsupported } from '../unsupported.ts';
import { LocalRoot, LocalRootError } from './local-root.ts';

const name = 'local.stowage.dev';

/** Directories of this machine, each reachable from the one node that was selected for it. */
export function localProvisioner(rootPath: string): Provisioner {
  const root = new LocalRoot(rootPath);
  return {
    name,
    plan: planLocal,
    make: (plan) => make(root, plan),
    remove: (asset) => remove(root, asset),
  };
}

function planLocal(request: ProvisionRequest): VolumePlanOutcome {
  const { asset, claim, storageClass, selectedNode } = request;
  const unsupported = refuseUnsupported(name, request);
  if (unsupported !== undefined) return unsupported;
  const [option] = Object.keys(storageClass.parameters ?? {});
  if (option !== undefined)
    return refusedOutcome(`invalid option "${option}" for volume plugin ${name}; it has none`);
  if (volumeModeOf(claim) === 'Block')
    return refusedOutcome('a directory is no block device; set spec.volumeMode to Filesystem');
  if (selectedNode === undefined)
    return refusedOutcome(
      `${name} makes a volume on the node of the pod; set the class's volumeBindingMode to WaitForFirstConsumer`,
    );
  const node = selectedNode.metadata?.name ?? '';
  const allowed = compileTopologySelector(storageClass.allowedTopologies);
  if (allowed !== undefined && !matchesNode(allowed, node, selectedNode.metadata?.labels))
    return refusedOutcome(`node "${node}" is not among the class's allowedTopologies`);
  const hostname = lookUp(selectedNode.metadata?.labels, labels.hostname);
  if (hostname === undefined) return refusedOutcome(`node "${node}" has no label ${labels.hostname}`);
  // The path is known when the directory is there.
  return { kind: 'planned', plan: { asset, source: { local: {} }, nodeAffinity: affinityTo(hostname) } };
}

async function make(root: LocalRoot, plan: VolumePlan): Promise<VolumeMakeOutcome> {
  try {
    const path = await root.make(plan.asset.claimUid);
    return { kind: 'made', plan: { ...plan, source: { local: { path } } } };
  } catch (error) {
    // An empty directory may be left; where it can't be removed either, nobody knows, and that is for the caller to try again.
    if (!(error instanceof LocalRootError)) await root.remove(plan.asset.claimUid);
    return refusedOutcome(messageOf(error));
  }
}

/** A volume says where it is; one that says anything else than we would is not ours to remove. */
async function remove(root: LocalRoot, { claimUid, volume }: ProvisionedAsset): Promise<void> {
  if (volume !== undefined) {
    const path = await root.pathFor(claimUid);
    const told = volume.spec?.local?.path;
    if (told !== path)
      throw new LocalRootError(`volume is at ${told ?? 'no path'}, not at ${path}; remove it by hand`);
  }
  await root.remove(claimUid);
}

function affinityTo(hostname: string) {
  const matchExpressions = [{ key: labels.hostname, operator: 'In' as const, values: [hostname] }];
  return { required: { nodeSelectorTerms: [{ matchExpressions }] } };
}
