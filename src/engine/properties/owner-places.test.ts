import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StatefulSet } from '../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod } from '../../kube/api/core.ts';
import { ClusterIndex } from '../cluster-index/cluster-index.ts';
import { ownerGroupOf } from '../cluster-index/pools/policies/spread-group.ts';
import type { ClaimRecord } from '../records/claim-record.ts';
import { sizeOfBytes } from '../size.ts';
import { boundClaim, claim, labelIn, node, ownedBy, pod, volume, zone } from '../testing/objects.ts';

const nodeNames = ['n1', 'n2', 'n3'] as const;
const zones = ['a', 'b', undefined] as const;
const volumeNames = ['v1', 'v2', 'v3'] as const;
const setNames = ['db', 'x-db'] as const;
/** Claims of the sets, one that either set may own, and claims of the ephemeral volumes of pods. */
const claimNames = ['data-db-0', 'data-db-1', 'log-db-0', 'data-x-db-0', 'web-1-tmp', 'web-2-tmp'] as const;
const podNames = ['web-1', 'web-2'] as const;
const owners = ['db', 'x-db', 'web', 'web-1', 'web-2'].map((name) => `default/${name}`);

type Step =
  | { readonly do: 'node'; readonly name: string; readonly zone: string | undefined }
  | { readonly do: 'volume'; readonly name: string; readonly on: readonly string[] }
  | {
      readonly do: 'claim';
      readonly name: string;
      readonly volume: string | undefined;
      readonly selected: string | undefined;
    }
  | { readonly do: 'set'; readonly name: string; readonly templates: readonly string[] }
  | { readonly do: 'pod'; readonly name: string; readonly isOwned: boolean }
  | { readonly do: 'remove'; readonly kind: 'Node' | 'PersistentVolume'; readonly name: string }
  | {
      readonly do: 'remove';
      readonly kind: 'PersistentVolumeClaim' | 'StatefulSet' | 'Pod';
      readonly name: string;
    }
  | { readonly do: 'hold'; readonly volume: string; readonly claim: string | undefined }
  | { readonly do: 'promise'; readonly claim: string; readonly node: string | undefined }
  | { readonly do: 'savepoint' | 'rollback' };

const pick = <T>(values: readonly T[]) => fc.constantFrom(...values);

const arbStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('node' as const), name: pick(nodeNames), zone: pick(zones) }),
  fc.record({
    do: fc.constant('volume' as const),
    name: pick(volumeNames),
    on: fc.uniqueArray(pick(nodeNames), { maxLength: 2 }),
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      name: pick(claimNames),
      volume: pick([...volumeNames, undefined]),
      selected: pick([...nodeNames, undefined]),
    }),
  },
  fc.record({
    do: fc.constant('set' as const),
    name: pick(setNames),
    templates: fc.uniqueArray(pick(['data', 'log', 'data-x'])),
  }),
  fc.record({ do: fc.constant('pod' as const), name: pick(podNames), isOwned: fc.boolean() }),
  arbRemoval('Node', nodeNames),
  arbRemoval('PersistentVolume', volumeNames),
  arbRemoval('PersistentVolumeClaim', claimNames),
  arbRemoval('StatefulSet', setNames),
  arbRemoval('Pod', podNames),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('hold' as const),
      volume: pick(volumeNames),
      claim: pick([...claimNames, undefined]),
    }),
  },
  fc.record({
    do: fc.constant('promise' as const),
    claim: pick(claimNames),
    node: pick([...nodeNames, undefined]),
  }),
  fc.record({ do: pick(['savepoint', 'rollback'] as const) }),
);

function arbRemoval<K extends Extract<Step, { readonly do: 'remove' }>['kind']>(
  kind: K,
  names: readonly string[],
) {
  return fc.record({ do: fc.constant('remove' as const), kind: fc.constant(kind), name: pick(names) });
}

/** Applies steps to an index; each object has a newer version than all before it. */
class History {
  readonly index = new ClusterIndex();
  readonly #savepoints: ReturnType<ClusterIndex['savepoint']>[] = [];
  #version = 0;

  apply(step: Step): void {
    const { index } = this;
    this.#version += 1;
    const version = String(this.#version);
    switch (step.do) {
      case 'node': {
        const made = node(step.name, step.zone === undefined ? {} : { [zone]: step.zone });
        index.upsert('Node', { ...made, metadata: { ...made.metadata, resourceVersion: version } });
        return;
      }
      case 'volume':
        index.upsert(
          'PersistentVolume',
          volume(step.name, '1Gi', {
            version,
            ...(step.on.length > 0 && { terms: [labelIn('kubernetes.io/hostname', ...step.on)] }),
          }),
        );
        return;
      case 'claim':
        index.upsert('PersistentVolumeClaim', claimOf(step, version));
        return;
      case 'set':
        index.upsert('StatefulSet', setOf(step.name, step.templates, version));
        return;
      case 'pod':
        index.upsert('Pod', podOf(step.name, step.isOwned, version));
        return;
      case 'remove':
        index.remove(step.kind, isClusterScoped(step.kind) ? step.name : `default/${step.name}`);
        return;
      case 'hold':
        this.#hold(step.volume, step.claim);
        return;
      case 'promise':
        this.#promise(`default/${step.claim}`, step.node);
        return;
      case 'savepoint':
        this.#savepoints.push(index.savepoint());
        return;
      case 'rollback': {
        const savepoint = this.#savepoints.pop();
        if (savepoint !== undefined) index.rollback(savepoint);
      }
    }
  }

  check(): void {
    for (const owner of owners) {
      const [actual, expected] = [counted(this.index, owner), walked(this.index, owner)];
      if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
    }
  }

  #hold(name: string, claimName: string | undefined): void {
    const claimKey = claimName === undefined ? undefined : `default/${claimName}`;
    const { volumes } = this.index;
    const isUsed = claimKey !== undefined && volumes.heldFor(claimKey) !== undefined;
    if (volumes.row(name) !== undefined && !isUsed) this.index.setHold(name, claimKey);
  }

  #promise(id: string, nodeName: string | undefined): void {
    const size = sizeOfBytes(1);
    const kept = { settled: undefined, reservations: 1, isStored: false, poolKey: undefined };
    const promised = nodeName === undefined ? undefined : { id, claimUid: 'uid', nodeName, size, ...kept };
    this.index.setPromise(id, promised);
  }
}

function isClusterScoped(kind: string): boolean {
  return kind === 'Node' || kind === 'PersistentVolume';
}

function claimOf(
  { name, volume: volumeName, selected }: Extract<Step, { readonly do: 'claim' }>,
  version: string,
): PersistentVolumeClaim {
  const made =
    volumeName === undefined
      ? claim(name, '1Gi', { ...(selected !== undefined && { selectedNode: selected }) })
      : boundClaim(name, '1Gi', volumeName);
  const podName = /^(web-\d)-tmp$/.exec(name)?.[1];
  const references = podName === undefined ? {} : ownedBy(podName, name);
  return { ...made, metadata: { ...made.metadata, ...references, resourceVersion: version } };
}

function setOf(name: string, templates: readonly string[], resourceVersion: string): StatefulSet {
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}`, resourceVersion },
    spec: { volumeClaimTemplates: templates.map((template) => ({ metadata: { name: template } })) },
  } as unknown as StatefulSet;
}

function podOf(name: string, isOwned: boolean, version: string): Pod {
  const made = pod(name, [], { version });
  const owner = { controller: true, kind: 'ReplicaSet', apiVersion: 'apps/v1', name: 'web', uid: 'rs' };
  return { ...made, metadata: { ...made.metadata, ...(isOwned && { ownerReferences: [owner] }) } };
}

type Places = Readonly<Record<'nodes' | 'zones', Readonly<Record<string, number>>>>;

function counted(index: ClusterIndex, owner: string): Places {
  const { nodes, zones: inZones } = index.ownerPlaces.of(owner);
  return { nodes: Object.fromEntries(nodes), zones: Object.fromEntries(inZones) };
}

/** The slow and obvious way. */
function walked(index: ClusterIndex, owner: string): Places {
  const nodes: Record<string, number> = {};
  const inZones: Record<string, number> = {};
  for (const record of index.claims.records()) {
    if (ownerGroupOf(index, record) !== owner) continue;
    const rows = rowsReaching(index, record);
    if (rows.length === 1) nodes[rows[0]!] = (nodes[rows[0]!] ?? 0) + 1;
    const reached = new Set(rows.map((row) => index.nodes.record(row)?.labels[zone]));
    const [only] = reached;
    if (reached.size === 1 && only !== undefined) inZones[only] = (inZones[only] ?? 0) + 1;
  }
  return { nodes, zones: inZones };
}

function rowsReaching(index: ClusterIndex, record: ClaimRecord): readonly number[] {
  const name = record.volumeName || index.volumes.heldFor(record.key)?.key || '';
  const row = index.volumes.row(name);
  if (row !== undefined) return index.volumes.topology(row).nodes.rows();
  const nodeName = record.selectedNode || index.promises.get(record.key)?.nodeName || '';
  const found = index.nodes.row(nodeName);
  return found === undefined ? [] : [found];
}

test('the places of the volumes of an owner equal those of a walk over all claims, after any history and rollback', () => {
  const start: readonly Step[] = [
    ...nodeNames.map((name, at) => ({ do: 'node', name, zone: zones[at] }) as const),
    ...volumeNames.map((name, at) => ({ do: 'volume', name, on: [nodeNames[at]!] }) as const),
    ...setNames.map((name) => ({ do: 'set', name, templates: ['data'] }) as const),
    ...podNames.map((name) => ({ do: 'pod', name, isOwned: true }) as const),
  ];
  const arbSteps = fc.array(fc.tuple(arbStep, fc.boolean()), { maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(arbSteps, (steps) => {
      const history = new History();
      for (const step of start) history.apply(step);
      history.check();
      for (const [step, isChecked] of steps) {
        history.apply(step);
        if (isChecked) history.check();
      }
      history.check();
    }),
    { numRuns: 150 },
  );
});
