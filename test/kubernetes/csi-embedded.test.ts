/** `stowage up` with a CSI driver of another language, as users start both. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { KubernetesCluster } from '../../src/cluster/kubernetes/client.ts';
import type { CSIDriverSpec } from '../../src/kube/api/storage.ts';
import {
  csiDrivers,
  csiNodes,
  driverCapacities,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
  volumeAttachments,
} from '../../src/kube/resources.ts';
import { realClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { callStowage, StowageProcess, temporaryFolder } from '../up/stowage-process.ts';
import {
  deleteAll,
  makeClaimAndPod,
  makeForeignVolume,
  runsOn,
  untilPublished,
} from './testing/csi-objects.ts';
import { type MockCall, MockDriver, type MockDriverOptions } from './testing/mock-driver.ts';
import { main, makeNode, runScheduler, until, untilPasses } from './testing/run-scheduler.ts';
import { lacks } from './vitest-beds.ts';

const namespace = 'default';

interface Setup {
  readonly mock: MockDriver;
  readonly data: string;
  readonly flags: readonly string[];
  readonly stowage: StowageProcess;
  readonly cluster: KubernetesCluster;
}

/** An embedded cluster with two nodes, a class and the driver. */
async function start(
  options: MockDriverOptions,
  spec: CSIDriverSpec = {},
  ...more: readonly string[]
): Promise<Setup> {
  const mock = await MockDriver.start(options);
  const plugins = (options.nodes ?? []).flatMap((node) => ['--csi-node', mock.nodeFlag(node)]);
  const flags = ['--csi-address', mock.address, '--capacity-poll-interval', '1s', ...plugins, ...more];
  const data = temporaryFolder();
  const stowage = await StowageProcess.up(data, ...flags);
  const cluster = await connect(stowage);
  const driver = { storageCapacity: true, attachRequired: false, ...spec };
  await cluster.resource(csiDrivers).create({ metadata: { name: mock.name }, spec: driver });
  await cluster.resource(storageClasses).create({
    metadata: { name: 'fast' },
    provisioner: mock.name,
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  });
  for (const node of options.nodes ?? []) await makeNode(cluster, node);
  return { mock, data, flags, stowage, cluster };
}

async function connect({ kubeconfig }: StowageProcess): Promise<KubernetesCluster> {
  const cluster = await KubernetesCluster.connect({
    kubeconfig,
    clock: realClock,
    random: systemRandom,
    env: {},
    rateLimit: false,
  });
  onTestFinished(() => cluster.close());
  return cluster;
}

/**
 * The calls about volumes; a call is repeated if the write after it conflicts with one of another controller, and counts once. As with a kubelet, a pod is removed once its volume is unpublished; so nothing orders NodeUnstageVolume and DeleteVolume
 * for volumes that are not attached.
 */
function methods(mock: MockDriver): readonly string[] {
  const about = /^(CreateVolume|DeleteVolume|Controller(Publish|Unpublish|Expand)Volume|Node\w+Volume)$/;
  const calls = mock.calls().flatMap(({ method, code }) => (about.test(method) ? [`${method} ${code}`] : []));
  return calls.filter((call, at) => call !== calls[at - 1]);
}

function withoutUnstage(mock: MockDriver): readonly string[] {
  const calls = methods(mock).filter((call) => !call.startsWith('NodeUnstageVolume '));
  return calls.filter((call, at) => call !== calls[at - 1]);
}

describe.skipIf(lacks('csi-mock'))('stowage up with a CSI driver in Go', () => {
  test('claims get volumes where the driver has capacity, pods run with them, and nothing is left', async () => {
    const pools = { n1: 2, n2: 8 };
    const flags = ['--no-attach', '--node-expansion'];
    const setup = await start({ pools, nodes: ['n1', 'n2'], flags });
    const { mock, cluster } = setup;
    await untilPublished(setup, 'n1 2Gi, n2 8Gi');
    const { items } = await cluster.resource(csiNodes).list();
    expect(items.flatMap(({ spec }) => spec?.drivers)).toMatchObject([
      { name: mock.name, nodeID: 'n1', topologyKeys: [mock.topologyKey] },
      { name: mock.name, nodeID: 'n2', topologyKeys: [mock.topologyKey] },
    ]);

    await makeClaimAndPod(setup, 'db', '5Gi');
    expect(await runsOn(setup, 'db')).toBe('n2');
    const [volume] = (await cluster.resource(persistentVolumes).list()).items;
    expect(volume?.spec).toMatchObject({
      capacity: { storage: '5Gi' },
      csi: { driver: mock.name, volumeAttributes: { name: volume?.metadata?.name } },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: mock.topologyKey, operator: 'In', values: ['n2'] }] },
          ],
        },
      },
    });
    await untilPublished(setup, 'n1 2Gi, n2 3Gi');

    const body = { spec: { resources: { requests: { storage: '6Gi' } } } };
    const claims = cluster.resource(persistentVolumeClaims);
    await claims.patch({ namespace, name: 'db' }, { type: 'merge', body });
    const size = async () => (await claims.get({ namespace, name: 'db' })).status?.capacity?.storage;
    await until(async () => (await size()) === '6Gi');
    await untilPublished(setup, 'n1 2Gi, n2 2Gi');

    await deleteAll(setup, 'db');
    await untilPublished(setup, 'n1 2Gi, n2 8Gi');
    await until(() => mock.calls('NodeUnstageVolume').length > 0);
    expect(withoutUnstage(mock)).toEqual([
      'CreateVolume OK',
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'ControllerExpandVolume OK',
      'NodeExpandVolume OK',
      'NodeUnpublishVolume OK',
      'DeleteVolume OK',
    ]);
  });

  test('volumes that have to be attached are attached before they are staged, and detached before they are deleted', async () => {
    const setup = await start({ pools: { n1: 2 }, nodes: ['n1'], flags: [] }, { attachRequired: true });
    await untilPublished(setup, 'n1 2Gi');
    await makeClaimAndPod(setup, 'db', '1Gi');
    expect(await runsOn(setup, 'db')).toBe('n1');
    const { items } = await setup.cluster.resource(volumeAttachments).list();
    expect(items).toMatchObject([
      {
        spec: { attacher: setup.mock.name, nodeName: 'n1' },
        status: { attached: true, attachmentMetadata: { device: '/dev/mock' } },
      },
    ]);
    await deleteAll(setup, 'db');
    expect(methods(setup.mock)).toEqual([
      'CreateVolume OK',
      'ControllerPublishVolume OK',
      'NodeStageVolume OK',
      'NodePublishVolume OK',
      'NodeUnpublishVolume OK',
      'NodeUnstageVolume OK',
      'ControllerUnpublishVolume OK',
      'DeleteVolume OK',
    ]);
  });

  test('pods fill every node, and no call of CreateVolume fails', async () => {
    const setup = await start({ pools: { n1: 6, n2: 6, n3: 6 }, nodes: ['n1', 'n2', 'n3'] });
    await untilPublished(setup, 'n1 6Gi, n2 6Gi, n3 6Gi');
    const names = Array.from({ length: 18 }, (_, at) => `pod-${at}`);
    await Promise.all(names.map((name) => makeClaimAndPod(setup, name, '1Gi')));
    const places = await Promise.all(names.map((name) => runsOn(setup, name)));
    expect(
      Object.fromEntries(['n1', 'n2', 'n3'].map((node) => [node, places.filter((at) => at === node).length])),
    ).toEqual({
      n1: 6,
      n2: 6,
      n3: 6,
    });
    const created = setup.mock.calls('CreateVolume');
    expect(created.filter(({ code }) => code !== 'OK')).toEqual([]);
    expect(new Set(created.map(({ request }) => request.name)).size).toBe(names.length);
  });

  test('a process that is killed finds its volumes again, and deletes them', async () => {
    const setup = await start({ pools: { n1: 2 }, nodes: ['n1'] });
    await untilPublished(setup, 'n1 2Gi');
    await makeClaimAndPod(setup, 'db', '1Gi');
    await runsOn(setup, 'db');
    await setup.stowage.kill();
    const stowage = await StowageProcess.up(setup.data, ...setup.flags);
    const again = { ...setup, stowage, cluster: await connect(stowage) };
    expect(await runsOn(again, 'db')).toBe('n1');
    await deleteAll(again, 'db');
    await until(() => setup.mock.calls('NodeUnstageVolume').length > 0);
    expect(withoutUnstage(setup.mock).slice(-2)).toEqual(['NodeUnpublishVolume OK', 'DeleteVolume OK']);
  });

  test('a volume that was made behind our back is reported as foreign, by name, and one that is gone as lost', async () => {
    const setup = await start({ pools: { n1: 8 }, nodes: ['n1'] });
    const { mock, stowage } = setup;
    await untilPublished(setup, 'n1 8Gi');
    await makeClaimAndPod(setup, 'db', '1Gi');
    await runsOn(setup, 'db');
    await untilPublished(setup, 'n1 7Gi');
    const drift = () => callStowage('capacity', '--drift', '--kubeconfig', stowage.kubeconfig);
    const before = await drift();
    expect(before.stderr).toBe('');
    expect(before.stdout).not.toMatch(/2Gi/);

    const { volumeId } = await makeForeignVolume(mock, 'n1', 2);
    await untilPublished(setup, 'n1 5Gi');
    const names = `The driver lists 1 volume (2Gi) that the cluster does not know: ${volumeId} (2Gi)`;
    await untilPasses(async () => {
      const { stdout } = await drift();
      expect(stdout).toContain(names);
      expect(stdout).toMatch(/ foreign use\n/);
    });

    const [kept] = (await setup.cluster.resource(persistentVolumes).list()).items;
    await mock.call('DeleteVolume', { volumeId });
    await mock.call('DeleteVolume', { volumeId: kept?.spec?.csi?.volumeHandle ?? '' });
    await untilPasses(async () => {
      const { stdout } = await drift();
      expect(stdout).toContain(`${kept?.metadata?.name} (1Gi)`);
      expect(stdout).toMatch(/ lost volumes\n/);
    });
  });
});

describe.skipIf(lacks('csi-mock'))('PMEM for Redis: inline volumes, and a publisher on each node', () => {
  test('each node publishes its own pool, and pods run where their size fits', async () => {
    const spec = { volumeLifecycleModes: ['Ephemeral'], podInfoOnMount: true } as const;
    const nodes = ['n1', 'n2'];
    const mock = await MockDriver.start({ pools: { n1: 4, n2: 16 }, nodes });
    const plugins = nodes.flatMap((node) => ['--csi-node', mock.nodeFlag(node)]);
    const stowage = await StowageProcess.up(temporaryFolder(), ...plugins);
    const cluster = await connect(stowage);
    const driver = { storageCapacity: true, attachRequired: false, ...spec };
    await cluster.resource(csiDrivers).create({ metadata: { name: mock.name }, spec: driver });
    for (const node of nodes) await makeNode(cluster, node);
    for (const node of nodes) {
      const own = [
        '--node-deployment',
        '--node-name',
        node,
        '--csi-address',
        mock.nodeFlag(node).slice(node.length + 1),
      ];
      const capacity = [
        '--controllers',
        'capacity',
        '--capacity-for-ephemeral',
        '--capacity-poll-interval',
        '1s',
      ];
      runScheduler(stowage.kubeconfig, ...capacity, ...own);
    }
    const pools = async () => {
      const { items } = await cluster.resource(driverCapacities).list();
      return items
        .flatMap(({ status }) => status?.storage ?? [])
        .flatMap(({ storageClassName, pools = [] }) =>
          pools.map(({ nodeList, capacity }) => `${storageClassName} ${nodeList} ${capacity}`),
        )
        .sort()
        .join(', ');
    };
    await until(async () => (await pools()) === '<ephemeral> n1 4Gi, <ephemeral> n2 16Gi');
    const redis = async (name: string, fsSize: string) => {
      const volumes = [{ name: 'pmem', csi: { driver: mock.name, fsSize } }];
      await cluster.resource(pods).create({
        metadata: { namespace, name },
        spec: { terminationGracePeriodSeconds: 0, containers: [main], volumes },
      });
    };
    await redis('a', '10Gi');
    await redis('b', '6Gi');
    await redis('c', '4Gi');
    expect(await Promise.all(['a', 'b', 'c'].map((name) => runsOn({ cluster }, name)))).toEqual([
      'n2',
      'n2',
      'n1',
    ]);
    await until(async () => (await pools()) === '<ephemeral> n1 0, <ephemeral> n2 0');
    const published = mock.calls('NodePublishVolume');
    expect(published.filter(({ code }) => code !== 'OK')).toEqual([]);
    const podOf = ({ request }: MockCall) => request.volumeContext['csi.storage.k8s.io/pod.name'];
    expect([...new Set(published.map(podOf))].toSorted()).toEqual(['a', 'b', 'c']);
    expect(published.find((call) => podOf(call) === 'a')?.request).toMatchObject({
      publishContext: { 'csi.storage.k8s.io/size': '10Gi' },
      volumeContext: { 'csi.storage.k8s.io/ephemeral': 'true', 'csi.storage.k8s.io/pod.name': 'a' },
    });
    // The request is empty: no capabilities, no parameters, no topology.
    expect(mock.calls('GetCapacity').map(({ request }) => request)).toContainEqual({});

    await redis('d', '10Gi');
    const waiting = async () => (await cluster.resource(pods).get({ namespace, name: 'd' })).status;
    await until(async () =>
      ((await waiting())?.conditions ?? []).some(({ message = '' }) => /enough free storage/.test(message)),
    );
    await cluster.resource(pods).delete({ namespace, name: 'a' });
    expect(await runsOn({ cluster }, 'd')).toBe('n2');
  });
});
