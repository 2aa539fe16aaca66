import { describe, expect, test } from 'vitest';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { labels } from '../../../kube/well-known.ts';
import { assetOf } from '../provisioner.ts';
import { affinityLines, claimOf, classOf, nodeOf, planLines, someUid, termsOf } from '../testing/objects.ts';
import { zonalProvisioner } from './zonal-provisioner.ts';

const threeZones = ['a1 a r1', 'a2 a r1', 'b1 b r1', 'c1 c r1'];
const fancy = classOf({
  allowedTopologies: termsOf('plain-zone=a rack=rack1', 'plain-zone=b rack=rack1,rack2'),
});
const racks = ['a1 a r1 rack1', 'a2 a r1 rack2', 'b1 b r1 rack1', 'b2 b r1 rack2'];
const two = { parameters: { replication: 'two-zones' } };

describe('with a selected node', () => {
  test.each<[string, readonly string[], string, StorageClass, readonly string[]]>([
    ["one zone is the node's", threeZones, 'b1', classOf(), ['zone=b']],
    [
      'allowed topologies do not change that',
      threeZones,
      'b1',
      classOf({ allowedTopologies: termsOf('zone=a,b') }),
      ['zone=b'],
    ],
    ["a rack that the class speaks of is the node's", racks, 'b2', fancy, ['zone=b rack=rack2']],
    ['a rack that it does not mention is left out', racks, 'b2', classOf(), ['zone=b']],
    [
      "a rack that its parameters mention is the node's",
      racks,
      'b2',
      classOf({ parameters: { topologyKeys: 'rack' } }),
      ['zone=b rack=rack2'],
    ],
    [
      'a region that the class mentions is included',
      threeZones,
      'b1',
      classOf({ allowedTopologies: termsOf('region=r1') }),
      ['zone=b region=r1'],
    ],
    [
      'a zone name of two regions is used with its region',
      ['x1 z r1', 'y1 z r2'],
      'y1',
      classOf(),
      ['zone=z region=r2'],
    ],
    ['two zones: the other one is any other zone', ['a1 a r1', 'b1 b r1'], 'b1', classOf(two), ['zone=a,b']],
    [
      'two zones: the other one is allowed',
      threeZones,
      'b1',
      classOf({ ...two, allowedTopologies: termsOf('zone=b,c') }),
      ['zone=b,c'],
    ],
    [
      'two zones: the other one is in the same region',
      ['a1 a r1', 'b1 b r2', 'c1 c r1'],
      'c1',
      classOf(two),
      ['zone=a,c'],
    ],
    ['two zones without regions', ['a1 a', 'b1 b'], 'a1', classOf(two), ['zone=a,b']],
    [
      'two zones: one without nodes is used if the class lists it',
      ['a1 a'],
      'a1',
      classOf({ ...two, allowedTopologies: termsOf('zone=a,b') }),
      ['zone=a,b'],
    ],
    [
      'two zones: one with nodes is preferred',
      ['a1 a', 'c1 c'],
      'a1',
      classOf({ ...two, allowedTopologies: termsOf('zone=a,b,c') }),
      ['zone=a,c'],
    ],
    [
      'two zones with the same rack are one term',
      ['a1 a r1 rack1', 'b1 b r1 rack1'],
      'a1',
      classOf({ ...two, allowedTopologies: fancy.allowedTopologies ?? [] }),
      ['zone=a,b rack=rack1'],
    ],
    [
      'two zones with different racks are two terms',
      ['a1 a r1 rack1', 'b1 b r1 rack2'],
      'a1',
      classOf({ ...two, allowedTopologies: fancy.allowedTopologies ?? [] }),
      ['zone=a rack=rack1', 'zone=b rack=rack2'],
    ],
    [
      "the proposal's parameter for two zones",
      ['a1 a r1', 'b1 b r1'],
      'b1',
      classOf({ parameters: { type: 'pd-standard', 'replication-type': 'regional-pd' } }),
      ['zone=a,b'],
    ],
    ['the old zones parameter', threeZones, 'b1', classOf({ parameters: { zones: 'a, b' } }), ['zone=b']],
  ])('%s', (_, nodes, selected, storageClass, expected) => {
    expect(planLines(zonalProvisioner, { nodes, selected, storageClass })).toEqual(expected);
  });

  test("the node's own label names of zones are used", async () => {
    const old = { metadata: { name: 'old', labels: { [labels.betaZone]: 'a' } } };
    const request = {
      asset: assetOf(someUid),
      claim: claimOf(),
      storageClass: classOf(),
      selectedNode: old,
      nodes: [old, nodeOf('new b')],
      spread: { hash: 0, ordinal: 0 },
    };
    const outcome = await zonalProvisioner.plan(request, new AbortController().signal);
    expect(outcome.kind === 'planned' && affinityLines(outcome.plan.nodeAffinity)).toEqual(['beta-zone=a']);
  });
});

describe('without one', () => {
  const immediate = (more: StorageClass = {}) => classOf({ volumeBindingMode: 'Immediate', ...more });

  test.each<[string, readonly string[], StorageClass, readonly string[]]>([
    ['the one allowed zone', threeZones, immediate({ allowedTopologies: termsOf('zone=c') }), ['zone=c']],
    ['the one zone parameter', threeZones, immediate({ parameters: { zone: 'b' } }), ['zone=b']],
    [
      'an allowed zone with nodes is preferred to one without',
      ['a1 a'],
      immediate({ allowedTopologies: termsOf('zone=a,x,y,z') }),
      ['zone=a'],
    ],
    [
      'an allowed zone without nodes if there are no others',
      ['a1 a'],
      immediate({ allowedTopologies: termsOf('zone=x') }),
      ['zone=x'],
    ],
    [
      'zones of an allowed region',
      ['a1 a r1', 'b1 b r2'],
      immediate({ allowedTopologies: termsOf('region=r2') }),
      ['zone=b region=r2'],
    ],
    [
      'zone and rack of a term',
      racks,
      immediate({ allowedTopologies: termsOf('zone=b rack=rack2') }),
      ['zone=b rack=rack2'],
    ],
    [
      'a zone and rack without nodes',
      [],
      immediate({ allowedTopologies: termsOf('zone=b rack=rack2') }),
      ['zone=b rack=rack2'],
    ],
    [
      'two allowed zones',
      threeZones,
      immediate({ ...two, allowedTopologies: termsOf('zone=a,c') }),
      ['zone=a,c'],
    ],
    [
      'two zones of the one region that has two',
      ['a1 a r1', 'b1 b r2', 'c1 c r2', 'd1 d r3'],
      immediate(two),
      ['zone=b,c'],
    ],
    [
      'two zones that are only listed',
      [],
      immediate({ ...two, allowedTopologies: termsOf('zone=a,c') }),
      ['zone=a,c'],
    ],
  ])('%s', (_, nodes, storageClass, expected) => {
    expect(planLines(zonalProvisioner, { nodes, storageClass })).toEqual(expected);
  });

  const zonesOf = (names: readonly string[], storageClass = immediate()) =>
    names.map((name) =>
      String(planLines(zonalProvisioner, { nodes: threeZones, storageClass, claim: claimOf({ name }) })),
    );

  test('the volumes of a set are spread over zones, those of one pod are together', () => {
    const data = zonesOf(['data-web-0', 'data-web-1', 'data-web-2']);
    expect([...data].sort()).toEqual(['zone=a', 'zone=b', 'zone=c']);
    expect(zonesOf(['logs-web-0', 'logs-web-1', 'logs-web-2'])).toEqual(data);
    expect(zonesOf(['data-web-3'])).toEqual(data.slice(0, 1));
  });

  test('pairs of zones are used in turn, too', () => {
    const pairs = zonesOf(['data-web-0', 'data-web-1', 'data-web-2'], immediate(two));
    expect([...pairs].sort()).toEqual(['zone=a,b', 'zone=a,c', 'zone=b,c']);
  });
});

describe('refuses', () => {
  const one = termsOf('zone=a');
  test.each<[string, readonly string[], string | undefined, StorageClass, RegExp]>([
    [
      'two zones, but there is only one',
      threeZones,
      'a1',
      classOf({ ...two, allowedTopologies: one }),
      /needs two allowed zones of one region, but there are r1: a;/,
    ],
    [
      'two zones, but there is only one, immediately',
      threeZones,
      undefined,
      classOf({ ...two, allowedTopologies: one }),
      /needs two allowed zones of one region, but there are r1: a;/,
    ],
    ['two zones of different regions', ['a1 a r1', 'b1 b r2'], 'a1', classOf(two), /there are r1: a; r2: b;/],
    [
      'two zones, but the region of one is unknown',
      ['a1 a r1'],
      'a1',
      classOf({ ...two, allowedTopologies: termsOf('zone=a,b') }),
      /there are no known region: b; r1: a;/,
    ],
    ['two zones, but there are none', [], undefined, classOf(two), /there are none;/],
    [
      'a node without a zone',
      ['n1'],
      'n1',
      classOf(),
      /^node "n1" has no label topology.kubernetes.io\/zone; /,
    ],
    [
      'a node outside the allowed zones',
      threeZones,
      'b1',
      classOf({ allowedTopologies: one }),
      /^node "b1" in zone "b" is not among the topologies/,
    ],
    [
      'a node outside the old zones',
      threeZones,
      'b1',
      classOf({ parameters: { zone: 'a' } }),
      /^node "b1" in zone "b" is not among the topologies/,
    ],
    ['nodes without zones', ['n1'], undefined, classOf(), /^cannot determine zones to provision volume in/],
    [
      'an allowed rack that no node has',
      threeZones,
      undefined,
      classOf({ allowedTopologies: termsOf('rack=r9') }),
      /^no matching zones found in allowedTopologies/,
    ],
    [
      'an unknown key',
      threeZones,
      'a1',
      classOf({ allowedTopologies: termsOf('zone=a foo.io/rack=r1') }),
      /^unsupported key found in matchLabelExpressions: foo.io\/rack; /,
    ],
    [
      'an unknown parameter',
      threeZones,
      'a1',
      classOf({ parameters: { iops: '9' } }),
      /^invalid option "iops" for volume plugin zonal.stowage.dev; must be one of /,
    ],
    [
      'a parameter called like a method',
      threeZones,
      'a1',
      classOf({ parameters: { constructor: 'x' } }),
      /^invalid option "constructor"/,
    ],
    [
      'an unknown replication',
      threeZones,
      'a1',
      classOf({ parameters: { replication: 'three' } }),
      /^replication of 'three' is invalid - expected 'two-zones' or 'none'$/,
    ],
    [
      'replication by both names',
      threeZones,
      'a1',
      classOf({ parameters: { replication: 'none', 'replication-type': 'none' } }),
      /mean the same/,
    ],
    [
      'zone with zones',
      threeZones,
      'a1',
      classOf({ parameters: { zone: 'a', zones: 'a,b' } }),
      /^both zone and zones StorageClass parameters must not be used at the same time$/,
    ],
    [
      'zone with allowed topologies',
      threeZones,
      'a1',
      classOf({ parameters: { zone: 'a' }, allowedTopologies: one }),
      /^zone\[s\] cannot be specified in StorageClass if allowedTopologies specified/,
    ],
    [
      'an empty zone',
      threeZones,
      'a1',
      classOf({ parameters: { zones: 'a,,b' } }),
      /^parameters.zones: contains no zone; /,
    ],
  ])('%s', (_, nodes, selected, storageClass, expected) => {
    const question = { nodes, storageClass, ...(selected === undefined ? {} : { selected }) };
    expect(planLines(zonalProvisioner, question)).toMatch(expected);
  });

  test.each([
    [{ selector: { matchLabels: { a: 'b' } } }, /selector is not supported/],
    [
      { dataSource: { kind: 'VolumeSnapshot', name: 's' } },
      /Only CSI plugin can provision a claim with a datasource$/,
    ],
    [{ volumeAttributesClassName: 'fast' }, /remove spec.volumeAttributesClassName$/],
  ])('a claim with %j', (spec, expected) => {
    const question = { nodes: threeZones, selected: 'a1', claim: claimOf({ spec }) };
    expect(planLines(zonalProvisioner, question)).toMatch(expected);
  });
});
