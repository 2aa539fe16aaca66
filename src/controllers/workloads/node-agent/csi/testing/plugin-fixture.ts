import { EnforcingDriver, type EnforcingDriverOptions } from '../../../../../csi/testing/enforcing-driver.ts';
import { JoiningDrivers } from '../../../../../csi/testing/joining-drivers.ts';
import type { CSIVolumeSource } from '../../../../../kube/api/core.ts';
import type { CSIDriverSpec } from '../../../../../kube/api/storage.ts';
import { csiDrivers } from '../../../../../kube/resources.ts';
import type { Controller } from '../../../../../reconcile/controller.ts';
import type { VirtualTimeCluster } from '../../../../testing/virtual-time-cluster.ts';
import { type NodeAgentControllerSettings, nodeAgentController } from '../../node-agent.ts';
import { makePod, testDriver } from '../../testing/agent-fixture.ts';
import { MemoryKubeletDirectory } from './memory-kubelet-directory.ts';

/** A plugin of the test driver on node n1, and an agent that knows it. */
export class PluginFixture {
  readonly driver: EnforcingDriver;
  readonly drivers: JoiningDrivers;
  readonly directory = new MemoryKubeletDirectory();

  private constructor(driver: EnforcingDriver, drivers: JoiningDrivers) {
    this.driver = driver;
    this.drivers = drivers;
  }

  /** The plugin answers immediately, unless it `joins` later. */
  static async start(
    options: Partial<EnforcingDriverOptions> & { readonly joinsLater?: boolean } = {},
  ): Promise<PluginFixture> {
    const { joinsLater = false, ...driverOptions } = options;
    const driver = new EnforcingDriver({ name: testDriver, pools: {}, nodeId: 'id-of-n1', ...driverOptions });
    const drivers = await JoiningDrivers.of(...(joinsLater ? [] : [driver]));
    drivers.isIncomplete = joinsLater;
    return new PluginFixture(driver, drivers);
  }

  agent(options: NodeAgentControllerSettings = {}): Controller {
    const csiNodes = new Map([['n1', { drivers: this.drivers, directory: this.directory }]]);
    return nodeAgentController({ csiNodes, ...options });
  }

  async join(): Promise<void> {
    this.drivers.isIncomplete = false;
    await this.drivers.join(this.driver);
  }

  /** The calls about volumes so far, as `METHOD VOLUME`. */
  get calls(): readonly string[] {
    return this.driver.calls
      .filter(({ method }) => method !== 'NodeGetInfo')
      .map(({ method, request }) => `${method} ${(request as { volumeId: string }).volumeId}`);
  }
}

export async function makeCsiDriver(
  { cluster }: VirtualTimeCluster,
  spec: CSIDriverSpec = {},
): Promise<void> {
  await cluster
    .resource(csiDrivers)
    .create({ metadata: { name: testDriver }, spec: { attachRequired: false, ...spec } });
}

/** A pod with an inline volume `scratch`. */
export async function makeInlinePod(
  fixture: VirtualTimeCluster,
  name: string,
  csi: Partial<CSIVolumeSource> = {},
): Promise<void> {
  const volumes = [{ name: 'scratch', csi: { driver: testDriver, ...csi } }];
  await makePod(fixture, name, {
    spec: { volumes, containers: [{ name: 'main', image: 'pause' }], nodeName: 'n1' },
  });
}
