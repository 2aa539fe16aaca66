import { CsiCallError, CsiError, CsiReplyError } from '../../../csi/csi-errors.ts';
import type { CsiReply } from '../../../csi/csi-methods.ts';
import { findListedVolume } from '../../../csi/list-volumes.ts';
import type { ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../../../kube/api/core.ts';
import type { StorageClass } from '../../../kube/api/storage.ts';
import { persistentVolumeClaims, storageClasses } from '../../../kube/resources.ts';
import { driveNameKey, drivesDriver } from '../../../kube/stowage/drive.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import { claimClassName } from '../../../kube/volumes.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import { csiSecrets } from '../../csi-secrets.ts';
import {
  type ProvisionedAsset,
  type Provisioner,
  type ProvisionRequest,
  type RefusedOutcome,
  refusedOutcome,
  type VolumeCreateOutcome,
  type VolumePlanOutcome,
} from '../provisioner.ts';
import { protectCloneSource } from './cloning-protection.ts';
import { createdVolume } from './created-volume.ts';
import type { CsiCaches } from './csi-caches.ts';
import type { CsiProvisioningSettings } from './csi-provisioning-settings.ts';
import { deletionSecretOf } from './deletion-secret.ts';
import { protectSnapshot, releaseSnapshot } from './snapshot-protection.ts';
import { readTopologyRecord, topologyRecord, topologyRequirement } from './topology-requirement.ts';
import { type CsiVolumePlan, planCsiVolume } from './volume-plan.ts';

export interface CsiProvisionerOptions {
  readonly driver: ServedCsiDriver;
  readonly context: ControllerContext;
  readonly caches: CsiCaches;
  readonly settings: CsiProvisioningSettings;
}

/**
 * Volumes of a CSI driver. It acts as external-provisioner does, except that nothing leaks:
 *
 * - While the outcome of CreateVolume is unknown, the same request is repeated. This process keeps the request itself; another one
 *   rebuilds it from the claim, the class, and the topology (and drive) that was recorded on the claim before the first call.
 * - A volume without a PersistentVolume is deleted by repeating CreateVolume to learn its id. A driver that answers that it made nothing
 *   has none.
 */
export class CsiProvisioner implements Provisioner<CsiVolumePlan> {
  readonly #driver: ServedCsiDriver;
  readonly #context: ControllerContext;
  readonly #caches: CsiCaches;
  readonly #settings: CsiProvisioningSettings;
  readonly #identity: string;
  /** Requests whose outcome is not certain. Key: the name of the volume. */
  readonly #unfinished = new Map<string, CsiVolumePlan>();

  constructor({ driver, context, caches, settings }: CsiProvisionerOptions) {
    this.#driver = driver;
    this.#context = context;
    this.#caches = caches;
    this.#settings = settings;
    const { clock, random } = context;
    this.#identity = `${clock.nowMs()}-${random.int(10_000)}-${driver.name}`;
  }

  get name(): string {
    return this.#driver.name;
  }

  isCreatorOf({ spec }: PersistentVolume): boolean {
    return spec?.csi?.driver === this.name && (spec.csi.volumeHandle ?? '') !== '';
  }

  async plan(request: ProvisionRequest, signal: AbortSignal): Promise<VolumePlanOutcome<CsiVolumePlan>> {
    const unfinished = this.#unfinished.get(request.asset.name);
    // Without a record the last attempt was undone, and this one starts from the beginning.
    if (unfinished !== undefined && request.asset.record !== undefined)
      return { kind: 'planned', plan: unfinished };
    const options = { ...this.#settings, driver: this.#driver, cluster: this.#context.cluster };
    const planned = await planCsiVolume(request, options, signal);
    if (planned.kind === 'refused') return planned;
    const { plan } = planned;
    const missing = await this.#missingSecret(plan, signal);
    return missing ?? this.#located(request, plan);
  }

  async create(plan: CsiVolumePlan, signal: AbortSignal): Promise<VolumeCreateOutcome> {
    const { cluster, log } = this.#context;
    await protectCloneSource(cluster, plan.content, signal);
    await protectSnapshot(cluster, plan.content, log, signal);
    const { name } = plan.asset;
    const isFirst = !plan.isRepetition && !this.#unfinished.has(name);
    this.#unfinished.set(name, plan);
    try {
      const { volume } = await this.#callCreate(plan, signal);
      const createdAtMs = this.#context.clock.nowMs();
      this.#unfinished.delete(name);
      const holder = this.#caches.handles.reserve(this.name, volume.volumeId, name);
      if (holder !== undefined) return this.#duplicateId(volume.volumeId, holder);
      const { hasTopology } = this.#driver;
      const { nodeName } = this.#settings;
      const own = { driver: this.name, hasTopology, identity: this.#identity, nodeName };
      const report = { ...plan, ...own, createdAtMs };
      return { kind: 'created', volume: createdVolume(volume, report) };
    } catch (error) {
      const refused = this.#refusalOf(error, plan);
      if (refused === undefined) throw error;
      // After a repetition the caller asks for the deletion of what an earlier call may have made.
      if (isFirst) this.#unfinished.delete(name);
      return refused;
    }
  }

  /** Nothing is undone: the volume belongs to another claim, whose data it has. */
  #duplicateId(volumeId: string, holder: string): RefusedOutcome {
    const message =
      `CSI driver ${this.name} returned the volume id "${volumeId}", which PersistentVolume "${holder}" already has. ` +
      'The claim gets no volume, and the volume is not deleted. The driver must return a different id for each volume: repair or update the driver';
    return { ...refusedOutcome(message, 'change'), reason: 'DuplicateVolumeId' };
  }

  async delete(asset: ProvisionedAsset, signal: AbortSignal): Promise<void> {
    if (asset.volume === undefined) await this.#deleteUnrecorded(asset, signal);
    else await this.#deleteRecorded(asset.volume, signal);
  }

  async settled(claim: PersistentVolumeClaim, signal: AbortSignal): Promise<void> {
    const { cluster, informers, log } = this.#context;
    const claims = informers.of(persistentVolumeClaims).values();
    await releaseSnapshot(cluster, claim, { claims, log }, signal);
  }

  /** Read before anything is written: a Secret that is missing costs no write. */
  async #missingSecret(plan: CsiVolumePlan, signal: AbortSignal): Promise<RefusedOutcome | undefined> {
    try {
      await this.#secretsOf(plan, signal);
      return undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      return refusedOutcome(`error getting the Secret for provisioning: ${messageOf(error)}`, 'retry');
    }
  }

  #located(request: ProvisionRequest, plan: CsiVolumePlan): VolumePlanOutcome<CsiVolumePlan> {
    const { asset, storageClass } = request;
    const { strictTopology, immediateTopology } = this.#settings;
    if (!this.#driver.hasTopology)
      return { kind: 'planned', plan: withRecord(plan, topologyRecord(undefined)) };
    const recorded = asset.record === undefined ? undefined : readTopologyRecord(asset.record, storageClass);
    const choice =
      recorded === undefined
        ? this.#caches.chooseTopology(this.name, request, {
            strict: strictTopology,
            immediate: immediateTopology,
          })
        : { kind: 'chosen' as const, ...recorded };
    if (choice.kind === 'refused') return choice;
    const required = topologyRequirement(choice.preferred);
    const drive = this.name === drivesDriver ? plan.request.parameters[driveNameKey] : undefined;
    const located = withRecord(plan, topologyRecord(choice.preferred, drive));
    if (required === undefined) return { kind: 'planned', plan: located };
    const withTopology = { ...plan.request, accessibilityRequirements: required };
    return { kind: 'planned', plan: { ...located, request: withTopology } };
  }

  #secretsOf({ secrets }: CsiVolumePlan, signal: AbortSignal): Promise<Record<string, string>> {
    return csiSecrets(this.#context.cluster, secrets.get('provisioner'), signal);
  }

  async #callCreate(plan: CsiVolumePlan, signal: AbortSignal) {
    const secrets = await this.#secretsOf(plan, signal);
    const { timeoutMs } = this.#settings;
    try {
      const request = { ...plan.request, secrets };
      const reply = await this.#driver.call('CreateVolume', request, { signal, timeoutMs });
      // The reply was checked: it has a volume with an id.
      return { volume: reply.volume as NonNullable<CsiReply<'CreateVolume'>['volume']> };
    } catch (error) {
      // The volume exists and is not what was asked for, such as a smaller one or one without the source's content.
      if (error instanceof CsiReplyError) await this.#deleteWrong(error, plan.asset, secrets, signal);
      throw error;
    }
  }

  async #deleteWrong(
    { reply }: CsiReplyError,
    asset: ProvisionedAsset,
    secrets: Record<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const volumeId = (reply as CsiReply<'CreateVolume'> | undefined)?.volume?.volumeId ?? '';
    if (volumeId === '') return;
    await this.#deleteUnshared(volumeId, asset, secrets, signal)
      // The repetition of CreateVolume finds the volume again.
      .catch(() => {});
  }

  /** Undefined if the outcome is unknown. */
  #refusalOf(error: unknown, { hasNode, request }: CsiVolumePlan): RefusedOutcome | undefined {
    if (!(error instanceof CsiError) || error.outcome.effect === 'unknown') return undefined;
    const { next } = error.outcome;
    const canMove = hasNode && request.accessibilityRequirements !== undefined;
    if (next === 'move' && !canMove) return refusedOutcome(error.message, 'retry');
    return refusedOutcome(error.message, next === 'retry-soon' ? 'retry' : next);
  }

  async #deleteUnrecorded(asset: ProvisionedAsset, signal: AbortSignal): Promise<void> {
    const plan = this.#unfinished.get(asset.name) ?? (await this.#rebuild(asset, signal));
    if (plan === undefined) {
      await this.#deleteWithoutClass(asset, signal);
      return;
    }
    try {
      const { volume } = await this.#callCreate(plan, signal);
      const secrets = await this.#secretsOf(plan, signal);
      await this.#deleteUnshared(volume.volumeId, asset, secrets, signal);
    } catch (error) {
      if (!provesAbsence(error)) throw error;
    }
    this.#unfinished.delete(asset.name);
  }

  /** Undefined if the class no longer exists. */
  async #rebuild(asset: ProvisionedAsset, signal: AbortSignal): Promise<CsiVolumePlan | undefined> {
    const name = claimClassName(asset.claim ?? {});
    const classes = this.#context.cluster.resource(storageClasses);
    const storageClass = await undefinedIfNotFound(classes.get({ name }, { signal }));
    return storageClass && (await this.#repetition(asset, storageClass, signal));
  }

  async #repetition(
    asset: ProvisionedAsset,
    storageClass: StorageClass,
    signal: AbortSignal,
  ): Promise<CsiVolumePlan> {
    const claim = asset.claim ?? {};
    const request = { asset, claim, storageClass, nodes: [], spread: { hash: 0, ordinal: 0 } };
    const planned = await this.plan(request, signal);
    if (planned.kind === 'planned') return planned.plan;
    throw new Error(`cannot repeat CreateVolume to find the volume: ${planned.message}`);
  }

  /**
   * The class no longer exists, and with it the parameters and Secrets of the first call; they are not recorded on the claim, where users could change
   * them. The driver's list may have the volume by its name. Otherwise CreateVolume is repeated without parameters: names are
   * unique, so a driver that answers with a volume has returned the one that exists, or made one that is deleted as well.
   */
  async #deleteWithoutClass(asset: ProvisionedAsset, signal: AbortSignal): Promise<void> {
    const { timeoutMs } = this.#settings;
    const listed = await findListedVolume(this.#driver, asset.name, { signal, timeoutMs });
    if (listed !== undefined) {
      await this.#deleteUnshared(listed, asset, {}, signal);
      return;
    }
    try {
      const plan = await this.#repetition(asset, { provisioner: this.name }, signal);
      const { volume } = await this.#callCreate(plan, signal);
      await this.#deleteUnshared(volume.volumeId, asset, {}, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const className = claimClassName(asset.claim ?? {});
      throw new Error(
        `a volume ${asset.name} may exist, and its class is gone: create StorageClass "${className}" again with the same parameters, so that the volume can be found (${messageOf(error)})`,
        { cause: error },
      );
    }
  }

  async #deleteRecorded(volume: PersistentVolume, signal: AbortSignal): Promise<void> {
    const { cluster } = this.#context;
    if (this.#driver.hasControllerCapability('PUBLISH_UNPUBLISH_VOLUME')) {
      const name = volume.metadata?.name ?? '';
      const node = this.#caches.attachedNode(name);
      if (node !== undefined) throw new Error(`persistentvolume ${name} is still attached to node ${node}`);
    }
    const { volumeHandle = '' } = volume.spec?.csi ?? {};
    const name = volume.metadata?.name ?? '';
    const holder = this.#caches.handles.otherHolder(this.name, volumeHandle, name);
    if (holder !== undefined)
      throw new Error(
        `PersistentVolume "${holder}" has the same volume "${volumeHandle}", which is therefore not deleted; delete "${holder}" first, or set the reclaim policy of "${name}" to Retain`,
      );
    const reference = await deletionSecretOf(cluster, volume, signal);
    const secrets = await csiSecrets(cluster, reference, signal);
    await this.#callDelete(volumeHandle, secrets, signal);
  }

  /** Deletes the volume of a claim that has no PersistentVolume, unless another PersistentVolume has it. */
  async #deleteUnshared(
    volumeId: string,
    { name }: ProvisionedAsset,
    secrets: Record<string, string>,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.#caches.handles.otherHolder(this.name, volumeId, name) !== undefined) return;
    await this.#callDelete(volumeId, secrets, signal);
  }

  async #callDelete(volumeId: string, secrets: Record<string, string>, signal: AbortSignal): Promise<void> {
    const { timeoutMs } = this.#settings;
    await this.#driver.call('DeleteVolume', { volumeId, secrets }, { signal, timeoutMs });
    this.#caches.handles.release(this.name, volumeId);
  }
}

/**
 * Whether a repetition of CreateVolume shows that an earlier one made no volume. A driver that has the volume returns it, so a refusal of
 * the request itself proves it. A failure of the driver, such as Internal, says nothing about earlier calls.
 */
function provesAbsence(error: unknown): boolean {
  if (!(error instanceof CsiError) || error.method !== 'CreateVolume') return false;
  // The source of a clone no longer exists: no repetition can ever succeed.
  if (error instanceof CsiCallError && error.code === 'NotFound') return true;
  return error.outcome.effect === 'none' && error.outcome.next !== 'retry';
}

function withRecord(plan: CsiVolumePlan, record: string): CsiVolumePlan {
  return { ...plan, asset: { ...plan.asset, record } };
}
