import { describe, expect, test } from 'vitest';
import { boundClaim, claim, csiClass, csiDriver, drive, gib, volume } from '../../engine/testing/objects.ts';
import type { Pod } from '../../kube/api/core.ts';
import { type Drive, driveNodeKey } from '../../kube/stowage/drive.ts';
import { explainClaim } from '../../queries/explain/explain-claim.ts';
import { explainPod } from '../../queries/explain/explain-pod.ts';
import { nodeWith, podWith, viewOf } from '../../queries/testing/cluster-views.ts';
import type { ClusterView } from '../../queries/view/cluster-view.ts';
import { plainTerminal } from '../output/terminal.ts';
import { renderClaim } from './render-claim.ts';
import { renderPod } from './render-pod.ts';

const driver = 'drives.stowage.dev';

function explained(drives: readonly Drive[], asking: Pod, more: Partial<ClusterView> = {}): string {
  const owner = { kind: 'StatefulSet', name: 'db', uid: 'uid-db', controller: true };
  const data = claim('data', '5Gi', { className: 'spread' });
  const pod = { ...asking, spec: { ...asking.spec, schedulerName: 'stowage' } };
  const view = viewOf({
    Node: [nodeWith('n1', '4', { [driveNodeKey]: 'n1' })],
    CSIDriver: [csiDriver(driver)],
    StorageClass: [csiClass(driver, 'spread', { parameters: { spreadBy: 'claim-owner' } })],
    Drive: drives,
    PersistentVolumeClaim: [{ ...data, metadata: { ...data.metadata, ownerReferences: [owner] } }],
    Pod: [pod],
  });
  return renderPod(explainPod({ ...view, ...more }, pod, { nowMs: 0 }), {
    terminal: plainTerminal,
    isWide: false,
  });
}

const volumes = [{ name: 'pvc-0', sizeBytes: gib(10), spreadGroup: 'default/db' }];

test('a drive with a volume of the same owner is named, and a cordoned drive is a tried remedy', () => {
  const drives = [
    drive('n1-b7f6', 50, { spec: { volumes } }),
    drive('n1-c0de', 50, { spec: { unschedulable: true } }),
  ];
  const text = explained(drives, podWith('db-1', '1', ['data']));
  expect(text).toContain('too few drives without a volume of the same owner');
  expect(text).toContain('drive n1-b7f6: it already has a volume of default/db');
  expect(text).toContain('drive n1-c0de: it is cordoned');
  expect(text).toContain('Uncordon drive n1-c0de; the pod then fits on n1.');
  expect(text).toContain('n1-b7f6 (<drives>): total 50Gi, used 10Gi, promised 0, free 40Gi');
});

test('an inline volume on drives is named as such, with the drives that came closest', () => {
  const asking = podWith('web', '1');
  const scratch = { name: 'scratch', csi: { driver, fsSize: '50Gi' } };
  const text = explained([drive('n1-b7f6', 40)], { ...asking, spec: { ...asking.spec, volumes: [scratch] } });
  expect(text).toContain('scratch (50Gi, driver drives.stowage.dev); closest:');
  expect(text).toContain('drive n1-b7f6: 40Gi free, 50Gi asked');
  expect(text).not.toMatch(/claim/i);
});

test('before the first drive is added nothing fits, and a tried remedy says how to add one', () => {
  const text = explained([], podWith('db-1', '1', ['data']));
  expect(text).toContain('the volume needs a drive, and no drive has been added to the cluster');
  expect(text).toContain(
    '1. Add a drive of 5Gi to node n1 (there, as root: stowage drives discover, then stowage drives init); the pod then fits on n1.',
  );
  expect(text).not.toContain('Create a PersistentVolume');
});

test('files without any Drive do not say that there is none', () => {
  const text = explained([], podWith('db-1', '1', ['data']), { isFromFiles: true });
  expect(text).toContain(
    'the files contain no Drive, and its claims ask for class spread; add the output of kubectl get drives -o yaml',
  );
});

test('the policies of a volume are beside it', () => {
  const annotations = {
    'stowage.dev/placement': 'pack',
    'stowage.dev/growth-reserve': '20%',
    'stowage.dev/volume-anti-affinity': 'zones,drives',
  };
  const storageClass = csiClass(driver, 'spread');
  const pod = podWith('db-1', '1', ['data']);
  const view = viewOf({
    Node: [nodeWith('n1', '4', { [driveNodeKey]: 'n1' })],
    CSIDriver: [csiDriver(driver)],
    StorageClass: [{ ...storageClass, metadata: { ...storageClass.metadata, annotations } }],
    Drive: [drive('n1-b7f6', 50)],
    PersistentVolumeClaim: [claim('data', '5Gi', { className: 'spread' })],
    Pod: [pod],
  });
  const text = renderPod(explainPod(view, pod, { nowMs: 0, profile: 'stowage' }), {
    terminal: plainTerminal,
    isWide: false,
  });
  expect(text).toContain(
    'default/data: a new volume of n1-b7f6 (policy: placement pack; 20 % of a drive kept for expansions; apart from other volumes of its owner by drives, zones)',
  );
});

test('amounts of drives with a growth reserve agree with each other', () => {
  const storageClass = csiClass(driver, 'kept');
  const annotations = { 'stowage.dev/growth-reserve': '50%' };
  const used = (sizeGib: number) => ({ volumes: [{ name: `pvc-${sizeGib}`, sizeBytes: gib(sizeGib) }] });
  const pod = podWith('db-1', '1', ['data']);
  const view = viewOf({
    Node: [nodeWith('n1', '4', { [driveNodeKey]: 'n1' })],
    CSIDriver: [csiDriver(driver)],
    StorageClass: [{ ...storageClass, metadata: { ...storageClass.metadata, annotations } }],
    // The largest has the most free, and less than it keeps.
    Drive: [
      drive('n1-a', 200, { spec: used(113) }),
      drive('n1-b', 100, { spec: used(41) }),
      drive('n1-c', 100, { spec: used(78) }),
    ],
    PersistentVolumeClaim: [claim('data', '40Gi', { className: 'kept' })],
    Pod: [pod],
  });
  const text = renderPod(explainPod(view, pod, { nowMs: 0, profile: 'stowage' }), {
    terminal: plainTerminal,
    isWide: false,
  });
  expect(text).toContain('(needs 40Gi, free 9Gi)');
  expect(text).toContain('drive n1-a: it keeps 100Gi (50 %) free for expansions, which leaves 0; needs 40Gi');
  expect(text).toContain(
    'drive n1-b: it keeps 50Gi (50 %) free for expansions, which leaves 9Gi; needs 40Gi',
  );
  expect(text).toContain('drive n1-c: 22Gi free, 40Gi asked');
});

describe('of a class that asks for certain drives', () => {
  const pod = podWith('db-1', '1', ['data']);

  function view(parameters: Readonly<Record<string, string>>, drives: readonly Drive[], more: object = {}) {
    return viewOf({
      Node: [nodeWith('n1', '4', { [driveNodeKey]: 'n1' })],
      CSIDriver: [csiDriver(driver)],
      StorageClass: [csiClass(driver, 'hot', { parameters })],
      Drive: drives,
      PersistentVolumeClaim: [claim('data', '5Gi', { className: 'hot' })],
      Pod: [pod],
      ...more,
    });
  }

  const textOf = (seen: ClusterView, asking: Pod = pod) =>
    renderPod(explainPod(seen, asking, { nowMs: 0, profile: 'stowage' }), {
      terminal: plainTerminal,
      isWide: false,
    });

  test('drives of another tier and with other labels are named, and a drive is proposed', () => {
    const text = textOf(view({ accessTier: 'Hot', driveLabels: 'rack=r1' }, [drive('n1-a', 50)]));
    expect(text).toContain('no drive of this node has the access tier and the labels');
    expect(text).toContain(
      'drive n1-a: it has access tier Default, and Hot is asked, and lacks the label rack=r1',
    );
    expect(text).toContain('Add a drive of 5Gi, tier Hot, labelled rack=r1 to node n1');
    expect(text).not.toContain('PersistentVolume');
  });

  test('a full drive is no reason to create a PersistentVolume: another drive helps, also with a growth reserve', () => {
    const storageClass = csiClass(driver, 'hot');
    const annotations = { 'stowage.dev/growth-reserve': '50%' };
    const kept = { ...storageClass, metadata: { ...storageClass.metadata, annotations } };
    const drives = [drive('n1-a', 4)];
    expect(textOf(view({}, drives))).toContain('Add a drive of 5Gi to node n1');
    expect(textOf(view({}, drives, { StorageClass: [kept] }))).toContain('Add a drive of 10Gi to node n1');
    expect(textOf(view({}, drives))).not.toContain('PersistentVolume');
  });

  test('an invalid tier is named for pod and claim, and no provisioner is waited for', () => {
    const seen = view({ accessTier: 'fast' }, [drive('n1-a', 50)], {
      PersistentVolumeClaim: [claim('data', '5Gi', { className: 'hot', selectedNode: 'n1' })],
    });
    const problem = 'parameter accessTier: "fast" must be one of Default, Hot, Warm, Cold';
    const text = textOf(seen);
    expect(text).toContain(`storageclass "hot" of persistentvolumeclaim "data" is invalid: ${problem}`);
    expect(text).not.toMatch(/provisioner|Create a PersistentVolume/);
    expect(claimText(seen)).toContain(`${problem}; parameters cannot change: delete the class`);
    expect(claimText(seen)).not.toContain('provisioner');
  });

  test('a claim that binds at once says which drive is missing', () => {
    const parameters = { accessTier: 'Hot', driveLabels: 'rack=r1' };
    const immediate = { ...csiClass(driver, 'hot', { parameters }), volumeBindingMode: 'Immediate' };
    const seen = view({}, [drive('n1-a', 50)], { StorageClass: [immediate] });
    expect(claimText(seen)).toContain('no drive has access tier Hot and label rack=r1; add such a drive');
    expect(claimText(seen)).not.toContain('provisioner');
  });

  test('a drive that its node service has not reported is a reason to start the service', () => {
    const silent = drive('n1-a', 50);
    const text = textOf(view({}, [{ ...silent, status: {} }]));
    expect(text).toContain('drive n1-a: it has not reported that it is ready');
    expect(text).toContain(
      '1. Start the node service on node n1, which has not reported drive n1-a (stowage csi --services node --node-name n1; the drive must have 5Gi free)',
    );
  });

  test('a node service that is stopped is named for pods that wait for it', () => {
    const registered = { metadata: { name: 'n1' }, spec: { drivers: [{ name: driver, nodeID: 'n1' }] } };
    const selected = [claim('data', '5Gi', { className: 'hot', selectedNode: 'n1' })];
    const stopped = view({}, [drive('n1-a', 50)], { PersistentVolumeClaim: selected, CSINode: [] });
    expect(textOf(stopped)).toContain(
      'claim default/data waits for its volume on node n1: the node service of drives.stowage.dev is not running there',
    );
    expect(textOf(stopped)).toContain(
      'start the node service on node n1: stowage csi --services node --node-name n1',
    );
    const running = view({}, [drive('n1-a', 50)], { PersistentVolumeClaim: selected, CSINode: [registered] });
    expect(textOf(running)).not.toContain('node service');
    const bound = boundClaim('data', '5Gi', 'pv', { className: 'hot' });
    const pv = volume('pv', '5Gi', { className: 'hot', spec: { csi: { driver, volumeHandle: 'pv' } } });
    const placed = { ...pod, spec: { ...pod.spec, nodeName: 'n1' }, status: { phase: 'Pending' } } as Pod;
    const started = view({}, [], {
      PersistentVolumeClaim: [bound],
      PersistentVolume: [pv],
      CSINode: [],
      Pod: [placed],
    });
    expect(textOf(started, placed)).toContain('volume pv of claim default/data cannot be mounted on node n1');
  });
});

function claimText(view: ClusterView): string {
  const explained = explainClaim(view, view.snapshot.get('PersistentVolumeClaim', 'default/data')!, {
    nowMs: 0,
  });
  return renderClaim(explained, { terminal: plainTerminal, isWide: false });
}
