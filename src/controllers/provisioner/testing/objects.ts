import type { Node, PersistentVolumeClaim, VolumeNodeAffinity } from '../../../kube/api/core.ts';
import type { StringMap } from '../../../kube/api/meta.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import { assert } from '../../../runtime/assert.ts';
import { assetOf, type Provisioner } from '../provisioner.ts';
import { spreadPosition } from '../spread.ts';

const zonal = 'zonal.stowage.dev';
export const local = 'local.stowage.dev';
export const someUid = '0b5a7c1e-1111-4222-8333-444455556666';

/** `a1 zone-a r1 rack1` is node a1 in zone-a of region r1 with rack1; missing parts give no label. */
export function nodeOf(line: string): Node {
  const [name = '', zone, region, rack] = line.split(' ');
  const made: StringMap = {
    [labels.hostname]: name,
    ...(zone === undefined ? {} : { [labels.zone]: zone }),
    ...(region === undefined ? {} : { [labels.region]: region }),
    ...(rack === undefined ? {} : { rack }),
  };
  return { metadata: { name, labels: made } };
}

/** `zone=a,b rack=r1` is one term; `zone` and `region` stand for the full label names. */
export function termsOf(...lines: readonly string[]): NonNullable<StorageClass['allowedTopologies']> {
  const full: StringMap = { zone: labels.zone, region: labels.region };
  return lines.map((line) => ({
    matchLabelExpressions: line.split(' ').map((part) => {
      const [key = '', values = ''] = part.split('=');
      return { key: full[key] ?? key.replace('plain-', ''), values: values.split(',') };
    }),
  }));
}

/** The reverse: one text for each term. */
export function affinityLines(affinity: VolumeNodeAffinity | undefined): readonly string[] {
  const short = new Map<string, string>([
    [labels.zone, 'zone'],
    [labels.region, 'region'],
    [labels.hostname, 'host'],
    [labels.betaZone, 'beta-zone'],
  ]);
  return (affinity?.required?.nodeSelectorTerms ?? []).map(({ matchExpressions = [] }) =>
    matchExpressions
      .map(({ key = '', values = [] }) => `${short.get(key) ?? key}=${values.join(',')}`)
      .join(' '),
  );
}

export function classOf(more: StorageClass = {}): StorageClass {
  return {
    metadata: { name: 'standard' },
    provisioner: zonal,
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  };
}

export interface TestClaimOptions {
  readonly name?: string;
  readonly node?: string;
  readonly className?: string;
  readonly provisioner?: string;
  readonly annotations?: StringMap;
  readonly spec?: PersistentVolumeClaim['spec'];
}

/** A claim as the PV binder leaves it for provisioners. */
export function claimOf(options: TestClaimOptions = {}): PersistentVolumeClaim {
  const { name = 'data', node, className = 'standard', provisioner = zonal } = options;
  return {
    metadata: {
      namespace: 'default',
      name,
      annotations: {
        [annotations.storageProvisioner]: provisioner,
        ...(node === undefined ? {} : { [annotations.selectedNode]: node }),
        ...options.annotations,
      },
    },
    spec: {
      storageClassName: className,
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      ...options.spec,
    },
  };
}

export interface PlanInput {
  readonly nodes?: readonly string[];
  readonly selected?: string;
  readonly storageClass?: StorageClass;
  readonly claim?: PersistentVolumeClaim;
}

/** The terms of the planned volume, one text each; or the reason of the refusal. */
export function planLines(provisioner: Provisioner, question: PlanInput): readonly string[] | string {
  const nodes = (question.nodes ?? []).map(nodeOf);
  const selectedNode = nodes.find(({ metadata }) => metadata?.name === question.selected);
  const claim = question.claim ?? claimOf();
  const request = {
    asset: assetOf(someUid),
    claim,
    storageClass: question.storageClass ?? classOf(),
    ...(selectedNode === undefined ? {} : { selectedNode }),
    nodes,
    spread: spreadPosition(claim, []),
  };
  const outcome = provisioner.plan(request, new AbortController().signal);
  assert(!(outcome instanceof Promise), 'our own provisioners plan at once');
  return outcome.kind === 'refused' ? outcome.message : affinityLines(outcome.plan.nodeAffinity);
}
