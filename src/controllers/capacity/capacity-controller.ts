import { callTimeoutMs } from '../../csi/csi-client.ts';
import { type CsiDriverSet, noCsiDrivers, type ServedCsiDriver } from '../../csi/served-driver.ts';
import type { Controller, ControllerContext } from '../../reconcile/controller.ts';
import { settledOrAborted } from '../../runtime/abort.ts';
import { type CapacitySettings, capacityDefaults } from '../capacity-settings.ts';
import { CapacityMetrics } from './capacity-metrics.ts';
import { AbandonedCapacityReports } from './cleanup/abandoned-capacity-reports.ts';
import { DriverPublisher } from './driver-publisher.ts';
import { NodeHeartbeat } from './node-heartbeat.ts';
import { findObjectOwner } from './object-owner.ts';

export interface CapacityControllerSettings {
  readonly csi?: CapacityCsiSettings | undefined;
  readonly csiDrivers?: CsiDriverSet | undefined;
}

interface CapacityCsiSettings {
  /** The deadline of each call. */
  readonly timeoutMs?: number | undefined;
  /** The node whose driver this process serves; undefined: the driver serves all nodes. */
  readonly nodeName?: string | undefined;
  /** Those that differ from the defaults. */
  readonly capacity?: Partial<CapacitySettings> | undefined;
}

/** The controller `capacity`: publishes the capacity of the CSI drivers that this process serves. */
export function capacityController(options: CapacityControllerSettings = {}): Controller {
  return { name: 'capacity', run: (context, signal) => run(options, context, signal) };
}

/** A publisher for one node shows by a Lease that it runs. */
async function run(
  options: CapacityControllerSettings,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { nodeName } = options.csi ?? {};
  if (nodeName === undefined) {
    // Not by the publishers of nodes: there may be thousands, and each would watch the Leases of all others.
    await runUntilEnd(
      publish(options, context, signal),
      (until) => new AbandonedCapacityReports(context).run(until),
      signal,
    );
    return;
  }
  const heartbeat = new NodeHeartbeat(context, nodeName);
  const lease = await heartbeat.start(signal);
  const publishing = publish(options, { ...context, lease }, signal);
  await runUntilEnd(publishing, async (until) => lease && (await heartbeat.run(until)), signal);
}

/** Runs `beside` until `work` ends. */
async function runUntilEnd(
  work: Promise<void>,
  beside: (signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const other = beside(AbortSignal.any([signal, ended.signal]));
  try {
    await work;
  } finally {
    ended.abort();
    await other;
  }
}

/**
 * Every driver has its own publisher, so one that hangs does not delay the others. Drivers may join later. A driver that joins again, as after
 * a restart of its controller, gets another publisher, which starts when the former one has ended.
 */
async function publish(
  { csi, csiDrivers = noCsiDrivers }: CapacityControllerSettings,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const metrics = new CapacityMetrics(context.metrics);
  const settings = { ...capacityDefaults, ...csi?.capacity };
  const { owner: place, namespace } = settings;
  const owner = place && (await findObjectOwner({ ...context, namespace, ...place }, signal));
  const { timeoutMs = callTimeoutMs, nodeName } = csi ?? {};
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const ended = new AbortController();
  const publishing = AbortSignal.any([signal, ended.signal]);
  const running = new Map<string, Publishing>();
  const start = (driver: ServedCsiDriver) => {
    if (!driver.hasControllerCapability('GET_CAPACITY')) {
      context.log.info('the driver does not report capacity, so none is published', { driver: driver.name });
      return;
    }
    const former = running.get(driver.name);
    former?.end.abort();
    const end = new AbortController();
    const common = { context, driver, settings, nodeName, timeoutMs, owner, metrics };
    const runPublisher = async () => {
      await former?.work;
      const until = AbortSignal.any([publishing, end.signal]);
      if (!until.aborted) await new DriverPublisher(common).run(until);
    };
    running.set(driver.name, { end, work: runPublisher().catch(fail) });
  };
  const stopListening = csiDrivers.onJoin(start);
  try {
    for (const driver of csiDrivers.all()) start(driver);
    await settledOrAborted(failed, signal);
  } finally {
    stopListening();
    ended.abort();
    await Promise.all([...running.values()].map(({ work }) => work));
  }
}

/** The publisher of one driver. */
interface Publishing {
  /** Ends it. */
  readonly end: AbortController;
  /** Never rejects. */
  readonly work: Promise<void>;
}
