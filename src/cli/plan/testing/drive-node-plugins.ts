import { inlineVolumeHandle } from '../../../controllers/workloads/node-agent/csi/volume-request.ts';
import { removalPatch } from '../../../drives/controller/ledger-patches.ts';
import { InlineVolumes } from '../../../drives/node/inline-volumes.ts';
import { NodeDrives } from '../../../drives/node/node-drives.ts';
import { readInlineVolume } from '../../../drives/node/node-requests.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { pods } from '../../../kube/resources.ts';
import { type Drive, drives, drivesDriver } from '../../../kube/stowage/drive.ts';
import type { Controller, ControllerContext } from '../../../reconcile/controller.ts';
import { untilAborted } from '../../../runtime/abort.ts';

/** How long the plugins take: from the binding of a pod to the entries of its volumes, and to delete the data of a volume. */
export interface PluginTimes {
  readonly publicationMs: number;
  readonly deletionMs: number;
}

/** The node plugins of drives of all nodes, without the data: the entries of inline volumes are written and released, and released entries are removed. */
export function driveNodePlugins(times: PluginTimes): Controller {
  return {
    name: 'drive-node-plugins',
    run: async (context, signal) => {
      const plugins = new DriveNodePlugins(context, times, signal);
      const stops = [
        context.informers.of(pods).addHandler({
          added: (pod) => plugins.publish(pod),
          updated: (pod) => plugins.publish(pod),
          deleted: (pod) => plugins.unpublish(pod),
        }),
        context.informers.of(drives).addHandler({
          added: (drive) => plugins.delete(drive),
          updated: (drive) => plugins.delete(drive),
        }),
      ];
      await untilAborted(signal);
      for (const stop of stops) stop();
    },
  };
}

interface NodePlugin {
  readonly drives: NodeDrives;
  readonly inline: InlineVolumes;
}

class DriveNodePlugins {
  readonly #context: ControllerContext;
  readonly #times: PluginTimes;
  readonly #signal: AbortSignal;
  readonly #plugins = new Map<string, NodePlugin>();
  /** The handles of volumes that are published, or about to be, and of those that are about to be deleted. */
  readonly #published = new Set<string>();
  readonly #deleting = new Set<string>();

  constructor(context: ControllerContext, times: PluginTimes, signal: AbortSignal) {
    this.#context = context;
    this.#times = times;
    this.#signal = signal;
  }

  publish(pod: Pod): void {
    for (const handle of handlesIn(pod)) {
      if (this.#published.has(handle)) continue;
      this.#published.add(handle);
      this.#start(`publish ${handle}`, () => this.#publish(pod, handle));
    }
  }

  async #publish(pod: Pod, handle: string): Promise<void> {
    const { clock, informers } = this.#context;
    const { namespace = '', name = '', uid = '' } = pod.metadata ?? {};
    await clock.sleep(this.#times.publicationMs, this.#signal);
    const current = informers.of(pods).get(`${namespace}/${name}`)?.metadata;
    if (current?.uid !== uid || current.deletionTimestamp !== undefined) return;
    const volume = (pod.spec?.volumes ?? []).find(
      (one) => inlineVolumeHandle(uid, one.name ?? '') === handle,
    );
    const request = readInlineVolume({
      ...volume?.csi?.volumeAttributes,
      'csi.storage.k8s.io/ephemeral': 'true',
      'csi.storage.k8s.io/pod.namespace': namespace,
      'csi.storage.k8s.io/pod.name': name,
      'csi.storage.k8s.io/pod.uid': uid,
    });
    await this.#pluginOf(pod.spec?.nodeName ?? '').inline.claim(handle, request!);
  }

  unpublish(pod: Pod): void {
    for (const handle of handlesIn(pod))
      this.#start(`unpublish ${handle}`, () =>
        this.#pluginOf(pod.spec?.nodeName ?? '').inline.release(handle),
      );
  }

  delete({ metadata, spec }: Drive): void {
    for (const { name, state } of spec?.volumes ?? []) {
      if (state !== 'Releasing' || this.#deleting.has(name)) continue;
      this.#deleting.add(name);
      this.#start(`delete ${name}`, async () => {
        await this.#context.clock.sleep(this.#times.deletionMs, this.#signal);
        const { drives } = this.#pluginOf(spec?.nodeName ?? '');
        await drives.refresh(metadata?.name);
        await drives.write(metadata?.name ?? '', ({ record }) => removalPatch(record, name));
      });
    }
  }

  /** Repeated with back-off while it fails, as the kubelet does it. */
  #start(name: string, work: () => Promise<void>): void {
    this.#context.supervisor.start(name, work);
  }

  #pluginOf(nodeName: string): NodePlugin {
    const known = this.#plugins.get(nodeName);
    if (known !== undefined) return known;
    const { cluster, clock, random, supervisor, log } = this.#context;
    const common = { cluster, clock, random: { ...random, int: () => 0 }, nodeName };
    const onError = (error: unknown) => log.warn('drives', { error });
    const nodeDrives = new NodeDrives({ ...common, supervisor, onError });
    const plugin = { drives: nodeDrives, inline: new InlineVolumes({ ...common, drives: nodeDrives, log }) };
    this.#plugins.set(nodeName, plugin);
    return plugin;
  }
}

/** The inline volumes on drives of a pod that has its node. */
function handlesIn({ metadata, spec }: Pod): readonly string[] {
  if ((spec?.nodeName ?? '') === '') return [];
  return (spec?.volumes ?? [])
    .filter(({ csi }) => csi?.driver === drivesDriver)
    .map(({ name = '' }) => inlineVolumeHandle(metadata?.uid ?? '', name));
}
