import { dirname } from 'node:path';
import type { ServedCsiDriver } from '../../../../csi/served-driver.ts';
import type { SecretReference } from '../../../../kube/api/core.ts';
import type { ControllerContext } from '../../../../reconcile/controller.ts';
import { messageOf } from '../../../../runtime/error-message.ts';
import { csiSecrets } from '../../../csi-secrets.ts';
import type { AgentCaches } from '../caches/agent-caches.ts';
import type { KubeletDirectory } from '../csi-records/kubelet-directory.ts';
import type { NodePlugins } from '../csi-records/node-plugins.ts';
import { type PluginVolumeRecord, withPod, withStaging } from '../csi-records/volume-record.ts';
import { attachmentName } from '../mounts/attachments.ts';
import { hadNoEffect, type MountOperation, MountProblem } from './mount-problem.ts';
import { type CallFacts, expandMessage, publishMessage, stageMessage } from './node-messages.ts';
import { callPlugin } from './plugin-call.ts';
import { podOf, type VolumeRequest } from './volume-request.ts';
import type { VolumeTokens } from './volume-tokens.ts';

export interface VolumeOperationsOptions {
  readonly context: ControllerContext;
  readonly caches: AgentCaches;
  readonly plugins: NodePlugins;
  readonly nodeName: string;
  readonly plugin: ServedCsiDriver;
  readonly directory: KubeletDirectory;
  readonly tokens: VolumeTokens;
}

/**
 * The calls to one node plugin, each with its record: written before the call as "may have happened", and after it as done. Each operation
 * can be repeated after a crash at any point: CSI's calls are idempotent, and a record is removed only after the call that undoes it.
 */
export class VolumeOperations {
  readonly #options: VolumeOperationsOptions;

  constructor(options: VolumeOperationsOptions) {
    this.#options = options;
  }

  record(volumeHandle: string): PluginVolumeRecord | undefined {
    const { plugins, nodeName, plugin } = this.#options;
    return plugins.record(nodeName, plugin.name, volumeHandle);
  }

  /** Stages the volume, unless it is staged or the plugin does not stage. Inline volumes are never staged. */
  async stage(request: VolumeRequest, signal: AbortSignal): Promise<void> {
    if (!this.#stages(request) || this.record(request.volumeHandle)?.staging?.isDone === true) return;
    const operation = request.isBlock ? 'MapVolume.SetUpDevice' : 'MountVolume.MountDevice';
    await this.#explained(operation, request, async () => {
      const facts = await this.#facts(request, 'nodeStageSecretRef', signal);
      const path = this.#stagingPathOf(request);
      await this.#options.directory.makeDirectory(path);
      await this.#write(withStaging(this.#recordOf(request), { path, isDone: false }));
      await this.#call('NodeStageVolume', stageMessage(request, facts), signal).catch(async (error) => {
        if (hadNoEffect(error)) await this.#forgetStaging(request);
        throw error;
      });
      await this.#write(withStaging(this.#recordOf(request), { path, isDone: true }));
    });
  }

  /** Publishes the volume for the pod, unless it is published. */
  async publish(request: VolumeRequest, signal: AbortSignal): Promise<void> {
    const { uid, namespace, name } = podOf(request);
    if (this.record(request.volumeHandle)?.pods[uid]?.isDone === true) return;
    await this.#explained(
      request.isBlock ? 'MapVolume.MapPodDevice' : 'MountVolume.SetUp',
      request,
      async () => {
        const facts = await this.#publishFacts(request, signal);
        const path = this.#targetPathOf(request);
        await this.#options.directory.makeDirectory(dirname(path));
        await this.#write(withPod(this.#recordOf(request), uid, { namespace, name, path, isDone: false }));
        await this.#call('NodePublishVolume', publishMessage(request, path, facts), signal).catch(
          async (error) => {
            if (hadNoEffect(error)) await this.#write(withPod(this.#recordOf(request), uid, undefined));
            throw error;
          },
        );
        await this.#write(withPod(this.#recordOf(request), uid, { namespace, name, path, isDone: true }));
      },
    );
  }

  /** Publishes the volume again at the path where the pod has it. If that fails, the pod keeps its mount. */
  async republish(request: VolumeRequest, signal: AbortSignal): Promise<void> {
    await this.#explained('MountVolume.SetUp', request, async () => {
      const facts = await this.#publishFacts(request, signal);
      const message = publishMessage(request, this.#targetPathOf(request), facts);
      await this.#call('NodePublishVolume', message, signal);
    });
  }

  /** Grows the volume where the pod has it. A plugin without that capability has nothing to do on the node. */
  async expand(request: VolumeRequest, sizeBytes: bigint, signal: AbortSignal): Promise<void> {
    if (!this.#options.plugin.hasNodeCapability('EXPAND_VOLUME')) return;
    const facts = await this.#facts(request, 'nodeExpandSecretRef', signal);
    const path = this.#targetPathOf(request);
    await this.#call('NodeExpandVolume', expandMessage(request, sizeBytes, path, facts), signal);
  }

  async unpublish({ volumeHandle }: PluginVolumeRecord, podUid: string, signal: AbortSignal): Promise<void> {
    const path = this.record(volumeHandle)?.pods[podUid]?.path;
    if (path === undefined) return;
    await this.#call('NodeUnpublishVolume', { volumeId: volumeHandle, targetPath: path }, signal);
    await this.#options.directory.removeMountPoint(path);
    const record = this.record(volumeHandle);
    if (record !== undefined) await this.#write(withPod(record, podUid, undefined));
  }

  async unstage({ volumeHandle }: PluginVolumeRecord, signal: AbortSignal): Promise<void> {
    const before = this.record(volumeHandle);
    const path = before?.staging?.path;
    if (before === undefined || path === undefined) return;
    // If the outcome stays unknown, the next pod must not rely on it.
    if (before.staging?.isDone === true) await this.#write(withStaging(before, { path, isDone: false }));
    await this.#call('NodeUnstageVolume', { volumeId: volumeHandle, stagingTargetPath: path }, signal);
    await this.#options.directory.removeMountPoint(path);
    const record = this.record(volumeHandle);
    if (record !== undefined) await this.#write(withStaging(record, undefined));
  }

  async #forgetStaging(request: VolumeRequest): Promise<void> {
    await this.#options.directory.removeMountPoint(this.#stagingPathOf(request));
    await this.#write(withStaging(this.#recordOf(request), undefined));
  }

  async #explained(
    operation: MountOperation,
    { specName }: VolumeRequest,
    work: () => Promise<void>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw new MountProblem(operation, specName, error);
    }
  }

  #call(
    ...[method, request, signal]:
      | ['NodeStageVolume', ReturnType<typeof stageMessage>, AbortSignal]
      | ['NodePublishVolume', ReturnType<typeof publishMessage>, AbortSignal]
      | ['NodeExpandVolume', ReturnType<typeof expandMessage>, AbortSignal]
      | ['NodeUnpublishVolume', { volumeId: string; targetPath: string }, AbortSignal]
      | ['NodeUnstageVolume', { volumeId: string; stagingTargetPath: string }, AbortSignal]
  ): Promise<unknown> {
    const { plugin, context } = this.#options;
    return callPlugin(plugin, method, request, { clock: context.clock, signal });
  }

  #write(record: PluginVolumeRecord): Promise<void> {
    return this.#options.plugins.write(this.#options.nodeName, record);
  }

  #recordOf({ driver, volumeHandle, specName, isAttachable }: VolumeRequest): PluginVolumeRecord {
    return this.record(volumeHandle) ?? { driver, volumeHandle, specName, isAttachable, pods: {} };
  }

  async #facts(
    request: VolumeRequest,
    secretOf: 'nodeStageSecretRef' | 'nodePublishSecretRef' | 'nodeExpandSecretRef',
    signal: AbortSignal,
  ): Promise<CallFacts> {
    const { plugin, caches, nodeName } = this.#options;
    const { driver, volumeHandle, isAttachable } = request;
    const attachment = isAttachable
      ? caches.attachments.get(attachmentName(volumeHandle, driver, nodeName))
      : undefined;
    return {
      plugin,
      csiDriver: caches.drivers.get(driver),
      publishContext: attachment?.status?.attachmentMetadata ?? {},
      secrets: await this.#secrets(secretReference(request, secretOf), secretOf, signal),
      stagingPath: this.#stages(request) ? this.#stagingPathOf(request) : '',
    };
  }

  async #publishFacts(request: VolumeRequest, signal: AbortSignal): Promise<CallFacts> {
    const facts = await this.#facts(request, 'nodePublishSecretRef', signal);
    return { ...facts, tokens: await this.#options.tokens.of(request.pod, facts.csiDriver) };
  }

  async #secrets(
    reference: SecretReference | undefined,
    field: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, string>>> {
    try {
      return await csiSecrets(this.#options.context.cluster, reference, signal);
    } catch (error) {
      const { namespace, name } = reference ?? {};
      const what = `${field[0]?.toUpperCase()}${field.slice(1)} ${namespace}/${name}`;
      const why = `kubernetes.io/csi: failed to find the secret ${name} in the namespace ${namespace} with error: ${messageOf(error)}`;
      throw new Error(`fetching ${what} failed: ${why}`, { cause: error });
    }
  }

  #stages({ source }: VolumeRequest): boolean {
    return source.kind === 'persistent' && this.#options.plugin.hasNodeCapability('STAGE_UNSTAGE_VOLUME');
  }

  #stagingPathOf({ isBlock, specName, driver, volumeHandle }: VolumeRequest): string {
    const { paths } = this.#options.directory;
    return isBlock ? paths.blockStaging(specName) : paths.globalMount(driver, volumeHandle);
  }

  #targetPathOf(request: VolumeRequest): string {
    const { paths } = this.#options.directory;
    const { uid } = podOf(request);
    return request.isBlock
      ? paths.blockPublish(uid, request.specName)
      : paths.podMount(uid, request.specName);
  }
}

/** The Secret of an inline volume is in the pod's namespace. */
function secretReference(
  { source, pod }: VolumeRequest,
  field: 'nodeStageSecretRef' | 'nodePublishSecretRef' | 'nodeExpandSecretRef',
): SecretReference | undefined {
  if (source.kind === 'persistent') return source.volume.spec?.csi?.[field];
  const { name } = source.csi.nodePublishSecretRef ?? {};
  return name === undefined ? undefined : { name, namespace: pod.metadata?.namespace ?? '' };
}
