import { expect, test } from 'vitest';
import type { EnforcingDriver } from '../../../csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../../csi/testing/joining-drivers.ts';
import type { VolumeNodeAffinity } from '../../../kube/api/core.ts';
import { nodes, persistentVolumeClaims, volumeAttributesClasses } from '../../../kube/resources.ts';
import { labels } from '../../../kube/well-known.ts';
import { VirtualTimeCluster } from '../../testing/virtual-time-cluster.ts';
import { expanderController } from './expander.ts';
import {
  type CsiClaimOptions,
  claimKey,
  driverName,
  driverWithVolume,
  makeCsiClaim,
  readVolume,
  requestSize,
} from './testing/csi-claim-fixture.ts';

const onN1: VolumeNodeAffinity = {
  required: {
    nodeSelectorTerms: [{ matchExpressions: [{ key: labels.hostname, operator: 'In', values: ['n1'] }] }],
  },
};
const controllerCapabilities = ['EXPAND_VOLUME', 'MODIFY_VOLUME'] as const;

/** Two nodes, each with its own driver and process. */
async function start(options: CsiClaimOptions) {
  const fixture = await VirtualTimeCluster.start();
  for (const name of ['n1', 'n2'])
    await fixture.cluster.resource(nodes).create({ metadata: { name, labels: { [labels.hostname]: name } } });
  const drivers = {
    n1: driverWithVolume({ controllerCapabilities }),
    n2: driverWithVolume({ controllerCapabilities }),
  };
  for (const [nodeName, driver] of Object.entries(drivers)) {
    const csiDrivers = await JoiningDrivers.of(driver);
    fixture.run([expanderController({ csiDrivers, csi: { timeoutMs: 10_000, nodeName } })]);
  }
  await makeCsiClaim(fixture, options);
  return { fixture, ...drivers };
}

const expansions = (driver: EnforcingDriver) => driver.callsOf('ControllerExpandVolume').length;

test.each<CsiClaimOptions>([{ nodeAffinity: onN1 }, { selectedNode: 'n1' }])(
  'only the driver of the volume’s node expands it: %j',
  async (options) => {
    const { fixture, n1, n2 } = await start(options);
    await using _fixture = fixture;
    await requestSize(fixture, '3Gi');
    await fixture.settle(60_000);
    expect([expansions(n1), expansions(n2)]).toEqual([1, 0]);
    expect((await readVolume(fixture)).spec?.capacity?.storage).toBe('3Gi');
    expect((await fixture.eventLines()).filter((line) => line.startsWith('ExternalExpanding'))).toEqual([]);
    expect(fixture.errors).toEqual([]);
  },
);

test('only the driver of the volume’s node modifies it', async () => {
  const { fixture, n1, n2 } = await start({ nodeAffinity: onN1, attributesClass: 'silver' });
  await using _fixture = fixture;
  for (const name of ['silver', 'gold'])
    await fixture.cluster
      .resource(volumeAttributesClasses)
      .create({ metadata: { name }, driverName, parameters: { iops: name } });
  const body = { spec: { volumeAttributesClassName: 'gold' } };
  await fixture.cluster.resource(persistentVolumeClaims).patch(claimKey, { type: 'merge', body });
  await fixture.settle(60_000);
  expect(n1.callsOf('ControllerModifyVolume')).toHaveLength(1);
  expect(n2.callsOf('ControllerModifyVolume')).toEqual([]);
});

test('a node that gets the labels of its volumes later expands them then', async () => {
  const { fixture, n1, n2 } = await start({ nodeAffinity: onN1 });
  await using _fixture = fixture;
  const relabel = async (value: string | null) => {
    const body = { metadata: { labels: { [labels.hostname]: value } } };
    await fixture.cluster.resource(nodes).patch({ name: 'n1' }, { type: 'merge', body });
    await fixture.settle();
  };
  await relabel(null);
  await requestSize(fixture, '3Gi');
  await fixture.settle();
  expect([expansions(n1), expansions(n2)]).toEqual([0, 0]);
  await relabel('n1');
  expect([expansions(n1), expansions(n2)]).toEqual([1, 0]);
});

test('a volume without a driver is left to the process for the whole cluster', async () => {
  const { fixture } = await start({ csi: { driver: 'zonal.stowage.dev' } });
  await using _fixture = fixture;
  await requestSize(fixture, '3Gi');
  await fixture.settle(60_000);
  expect((await readVolume(fixture)).spec?.capacity?.storage).toBe('1Gi');
});
