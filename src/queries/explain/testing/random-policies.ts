import {
  boundClaim,
  claim,
  csiDriver,
  drive,
  driveNode,
  localVolume,
  pod,
  storageClass,
  zone,
} from '../../../engine/testing/objects.ts';
import type { StatefulSet } from '../../../kube/api/apps.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { drivesDriver } from '../../../kube/stowage/drive.ts';
import { annotations } from '../../../kube/well-known.ts';
import { type Random, seededRandom } from '../../../runtime/random.ts';
import { viewOf } from '../../testing/cluster-views.ts';
import type { ClusterView } from '../../view/cluster-view.ts';

const gib = 2 ** 30;

export interface DrawnDrive {
  readonly name: string;
  readonly node: string;
  readonly sizeGib: number;
  /** The bytes that volumes leave free. */
  freeGib: number;
  /** Whether it has a volume of another member of the set. */
  hasMember: boolean;
}

export interface DrawnPolicy {
  readonly reservePercent: number;
  readonly apart: 'drives' | 'nodes' | 'zones' | undefined;
  readonly placement: 'pack' | 'spread' | undefined;
}

/**
 * Nodes in two zones with drives, a class of drives with a random policy, a StatefulSet `db` of which some members have a volume on a drive, and one more member
 * that waits.
 */
export class RandomPolicies {
  readonly policy: DrawnPolicy;
  readonly requestGib: number;
  readonly zoneOf = new Map<string, string>();
  readonly drives: DrawnDrive[] = [];
  /** The drive of each member's volume. */
  readonly #members: DrawnDrive[] = [];

  constructor(seed: string) {
    const random = seededRandom(seed);
    this.policy = drawPolicy(random);
    this.requestGib = random.pick([2, 5, 9, 15]);
    for (let at = 3 + random.int(3); at > 0; at -= 1) this.#node(random, `n${at}`);
    for (let left = random.int(4); left > 0; left -= 1) this.#member(random);
  }

  get waiting(): Pod {
    return this.#pod(this.#members.length);
  }

  view({ reservePercent, apart, placement }: DrawnPolicy = this.policy): ClusterView {
    const { metadata, ...rest } = storageClass('drives', { provisioner: drivesDriver });
    const policy = {
      ...(reservePercent > 0 && { [annotations.growthReserve]: `${reservePercent}%` }),
      ...(apart && { [annotations.volumeAntiAffinity]: apart }),
      ...(placement && { [annotations.placement]: placement }),
    };
    const size = (at: number) => `${memberGib(this.#members[at]!)}Gi`;
    return viewOf({
      Node: [...this.zoneOf].map(([name, value]) => nodeIn(name, value)),
      StorageClass: [{ ...rest, metadata: { ...metadata, annotations: policy } }],
      CSIDriver: [csiDriver(drivesDriver)],
      StatefulSet: [dbSet],
      Drive: this.drives.map((one) => this.#drive(one)),
      PersistentVolume: this.#members.map(({ node }, at) =>
        localVolume(`pv-${at}`, size(at), node, {
          className: 'drives',
          phase: 'Bound',
          spec: { claimRef: { namespace: 'default', name: `data-db-${at}`, uid: `uid-data-db-${at}` } },
        }),
      ),
      PersistentVolumeClaim: [
        ...this.#members.map((_, at) =>
          boundClaim(`data-db-${at}`, size(at), `pv-${at}`, { className: 'drives' }),
        ),
        claim(`data-db-${this.#members.length}`, `${this.requestGib}Gi`, { className: 'drives' }),
      ],
      Pod: [...this.#members.map((_, at) => this.#pod(at)), this.waiting],
    });
  }

  #node(random: Random, name: string): void {
    this.zoneOf.set(name, random.pick(['a', 'b']));
    for (let at = 1 + random.int(2); at > 0; at -= 1) {
      const sizeGib = random.pick([10, 20, 40]);
      const [node, freeGib] = [name, sizeGib - random.int(sizeGib / 2)];
      this.drives.push({ name: `${name}-d${at}`, node, sizeGib, freeGib, hasMember: false });
    }
  }

  #member(random: Random): void {
    const one = random.pick(this.drives);
    if (one.hasMember || one.freeGib < memberGib(one)) return;
    one.freeGib -= memberGib(one);
    one.hasMember = true;
    this.#members.push(one);
  }

  #pod(ordinal: number): Pod {
    const { metadata, spec } = pod(`db-${ordinal}`, [`data-db-${ordinal}`]);
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'uid-db', controller: true };
    const nodeName = this.#members[ordinal]?.node;
    return {
      metadata: { ...metadata, ownerReferences: [owner] },
      spec: {
        ...spec,
        schedulerName: 'stowage',
        containers: [{ name: 'main' }],
        ...(nodeName !== undefined && { nodeName }),
      },
    };
  }

  #drive(one: DrawnDrive) {
    const { name, node, sizeGib, freeGib } = one;
    const ordinal = this.#members.indexOf(one);
    const bytes = one.hasMember ? memberGib(one) * gib : 0;
    const claimRef = {
      namespace: 'default',
      name: `data-db-${ordinal}`,
      uid: `uid-data-db-${ordinal}`,
    } as const;
    const member = { name: `pv-${ordinal}`, sizeBytes: bytes, claimRef, spreadGroup: 'default/db' };
    const other = { name: `other-${name}`, sizeBytes: (sizeGib - freeGib) * gib - bytes };
    return drive(name, sizeGib, { node, spec: { volumes: one.hasMember ? [member, other] : [other] } });
  }
}

function drawPolicy(random: Random): DrawnPolicy {
  return {
    reservePercent: random.pick([0, 0, 20, 50, 80]),
    apart: random.pick([undefined, undefined, 'drives', 'nodes', 'zones']),
    placement: random.pick([undefined, 'pack', 'spread']),
  };
}

function memberGib({ sizeGib }: DrawnDrive): number {
  return sizeGib / 10;
}

function nodeIn(name: string, value: string) {
  const { metadata, ...rest } = driveNode(name);
  const allocatable = { cpu: '8', memory: '16Gi', pods: '110' };
  const labels = { ...metadata?.labels, [zone]: value };
  return { ...rest, metadata: { ...metadata, labels }, status: { allocatable } };
}

const dbSet: StatefulSet = {
  metadata: { namespace: 'default', name: 'db', uid: 'uid-db' },
  spec: {
    serviceName: 'db',
    selector: { matchLabels: { app: 'db' } },
    template: {},
    volumeClaimTemplates: [{ metadata: { name: 'data' } }],
  },
};
