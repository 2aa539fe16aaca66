import type { PersistentVolumeSource } from '../../../kube/api/core.ts';
import { volumeModeOf } from '../../../kube/volumes.ts';
import { emptyDriver } from '../../../kube/well-known.ts';
import type { ProvisionedAsset, Provisioner, ProvisionRequest, VolumePlanOutcome } from '../provisioner.ts';
import { refuseUnsupported } from '../unsupported.ts';
import { chooseSegments } from './choose-segments.ts';
import { affinityOf } from './segment-affinity.ts';
import { readAllowedTopologies } from './segments.ts';
import { readParameters, type ZonalParameters } from './zonal-parameters.ts';

/** Simulated cloud disks: volumes in one zone or two, with no storage behind them. */
export const zonalProvisioner: Provisioner = {
  name: emptyDriver,
  plan: planZonal,
  create: async (plan) => ({ kind: 'created', volume: plan }),
  delete: async () => {},
};

function planZonal(request: ProvisionRequest): VolumePlanOutcome {
  const { asset, storageClass, selectedNode, spread } = request;
  const unsupported = refuseUnsupported(emptyDriver, request);
  if (unsupported !== undefined) return unsupported;
  const parameters = readParameters(emptyDriver, storageClass);
  if (parameters.kind === 'refused') return parameters;
  const allowed = readAllowedTopologies({
    ...parameters,
    allowedTopologies: storageClass.allowedTopologies ?? [],
  });
  if (allowed.kind === 'refused') return allowed;
  const nodes = [...request.nodes];
  const { zonesPerVolume } = parameters;
  const answer = chooseSegments({ allowed, zonesPerVolume, selectedNode, nodes, spread });
  if (answer.kind === 'refused') return answer;
  const { namesRegions } = allowed;
  const nodeAffinity = affinityOf(answer.segments, { nodes, selectedNode, namesRegions });
  return { kind: 'planned', plan: { asset, nodeAffinity, source: sourceOf(asset, request, parameters) } };
}

function sourceOf(
  asset: ProvisionedAsset,
  { claim }: ProvisionRequest,
  { fsType, diskType, zonesPerVolume }: ZonalParameters,
): PersistentVolumeSource {
  const volumeAttributes = {
    ...(diskType === undefined ? {} : { type: diskType }),
    ...(zonesPerVolume === 2 ? { replication: 'two-zones' } : {}),
  };
  const isFormatted = fsType !== undefined && volumeModeOf(claim) === 'Filesystem';
  return {
    csi: {
      driver: emptyDriver,
      volumeHandle: asset.name,
      ...(isFormatted ? { fsType } : {}),
      ...(Object.keys(volumeAttributes).length === 0 ? {} : { volumeAttributes }),
    },
  };
}
