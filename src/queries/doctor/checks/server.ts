import type { Check, Found } from '../check.ts';
import { type ClusterFacts, factValue } from '../facts.ts';

const minorMin = 34;
const minorMax = 36;

export const serverChecks: readonly Check[] = [
  { subject: 'the version of Kubernetes', needs: [], find: versionFindings },
  { subject: 'feature gates of the API server', needs: ['gates'], find: gateFindings },
];

function versionFindings({ server }: ClusterFacts): readonly Found[] {
  const object = { kind: 'APIServer', name: server.url };
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(server.version) ?? [];
  if (major === '')
    return [{ code: 'UnsupportedVersion', object, detail: `cannot read its version "${server.version}"` }];
  const at = Number(major) * 1_000 + Number(minor);
  if (at < 1_000 + minorMin) return [{ code: 'UnsupportedVersion', object, detail: server.version }];
  if (at <= 1_000 + minorMax) return [];
  return [{ code: 'UntestedVersion', object, detail: `${server.version} is newer than 1.${minorMax}` }];
}

interface GateOpinion {
  readonly gate: string;
  /** The value that is worth a finding. */
  readonly isOn: boolean;
  readonly severity: 'warning' | 'info';
  readonly effect: string;
}

const opinions: readonly GateOpinion[] = [
  {
    gate: 'CustomResourceFieldSelectors',
    isOn: false,
    severity: 'warning',
    effect: 'Drives and disks cannot be selected by node, so that each node reads all of them',
  },
  {
    gate: 'RecoverVolumeExpansionFailure',
    isOn: false,
    severity: 'warning',
    effect: 'a claim that was expanded too far cannot be made smaller again',
  },
  {
    gate: 'WatchList',
    isOn: false,
    severity: 'info',
    effect: 'components read large lists in pages when they start, which costs the API server memory',
  },
  {
    gate: 'VolumeAttributesClass',
    isOn: false,
    severity: 'info',
    effect: 'claims cannot change the attributes of their volumes',
  },
  {
    gate: 'MutableCSINodeAllocatableCount',
    isOn: false,
    severity: 'info',
    effect: 'limits of attached volumes change only when a driver registers again',
  },
  {
    gate: 'DynamicResourceAllocation',
    isOn: true,
    severity: 'info',
    effect: 'Stowage refuses pods with resource claims (UnsupportedFeature); leave them to kube-scheduler',
  },
];

function gateFindings({ gates, server }: ClusterFacts): readonly Found[] {
  const values = factValue(gates);
  return opinions
    .filter(({ gate, isOn }) => values.get(gate) === isOn)
    .map(({ gate, isOn, severity, effect }) => ({
      code: 'FeatureGate',
      severity,
      object: { kind: 'APIServer', name: server.url },
      detail: `${gate}=${isOn}: ${effect}`,
    }));
}
