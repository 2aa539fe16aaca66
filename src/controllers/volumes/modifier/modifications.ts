import { CsiCallError, CsiError } from '../../../csi/csi-errors.ts';
import type { ServedCsiDriver } from '../../../csi/served-driver.ts';
import type { PersistentVolume, PersistentVolumeClaim, SecretReference } from '../../../kube/api/core.ts';
import type { VolumeAttributesClass } from '../../../kube/api/storage.ts';
import { keyOf } from '../../../kube/object-key.ts';
import {
  persistentVolumeClaims,
  persistentVolumes,
  volumeAttributesClasses,
} from '../../../kube/resources.ts';
import { undefinedIfNotFound } from '../../../kube/undefined-if-not-found.ts';
import type { ControllerContext } from '../../../reconcile/controller.ts';
import { referenceTo } from '../../../reconcile/event-recorder.ts';
import type { Requeue } from '../../../reconcile/workers.ts';
import { unreachable } from '../../../runtime/assert.ts';
import { messageOf } from '../../../runtime/error-message.ts';
import { KeyedBackOff } from '../../../runtime/keyed-back-off.ts';
import { csiSecrets } from '../../csi-secrets.ts';
import { driverRetryDelay } from '../driver-retry-delay.ts';
import { decideModification } from './decide-modification.ts';
import {
  type ModifyFailure,
  type ModifyPatch,
  modifyCancelledStatus,
  modifyFailedStatus,
  modifyFinishedStatus,
  modifyPendingStatus,
  modifyStartedStatus,
} from './modify-status.ts';

/** External-provisioner writes these on volumes whose class names a Secret for modifications. */
const secretNameAnnotation = 'volume.kubernetes.io/controller-modify-secret-name';
const secretNamespaceAnnotation = 'volume.kubernetes.io/controller-modify-secret-namespace';

export interface Modifiable {
  /** Both were just read from the server, not from a cache. */
  readonly claim: PersistentVolumeClaim;
  readonly volume: PersistentVolume;
  readonly driver: ServedCsiDriver;
}

export interface ModificationOptions {
  readonly timeoutMs: number | undefined;
  /** Called before each write. */
  readonly onWrite: () => void;
  /** Receives errors of calls that will be repeated. */
  readonly onError: (claim: PersistentVolumeClaim, error: unknown) => void;
}

/**
 * Executes modification steps, one claim at a time. Every write carries the version that was read.
 *
 * Safe to crash after any call or write: the target is on the claim before the call, the volume's class is written before the claim's, and
 * after a restart a recorded target is called again, which CSI makes idempotent.
 */
export class Modifications {
  readonly #context: ControllerContext;
  readonly #options: ModificationOptions;
  readonly #backOff: KeyedBackOff;
  /** Claims whose last call ended without effect. Lost by a restart: then the recorded target is completed. */
  readonly #failed = new Set<string>();

  constructor(context: ControllerContext, options: ModificationOptions) {
    this.#context = context;
    this.#options = options;
    this.#backOff = new KeyedBackOff(context.clock, driverRetryDelay);
  }

  forget(key: string): void {
    this.#backOff.forget(key);
    this.#failed.delete(key);
  }

  /** Whether the queue will repeat a failed attempt. */
  isDelayed(key: string): boolean {
    return this.#backOff.failures(key) > 0;
  }

  async step(modifiable: Modifiable, signal: AbortSignal): Promise<Requeue | undefined> {
    const { claim, volume } = modifiable;
    const step = decideModification(claim, volume, this.#failed.has(keyOf(claim)));
    switch (step.kind) {
      case 'nothing':
        return undefined;
      case 'cancel':
        this.#recordEvent(claim, 'Normal', 'VolumeModifyCanceled', 'Cancelled modify.');
        await this.#patchClaim(claim, modifyCancelledStatus(claim), signal);
        return undefined;
      case 'start':
      case 'continue': {
        const afterMs = this.#backOff.remainingMs(keyOf(claim), step.className);
        if (afterMs > 0) return { afterMs };
        return await this.#modifyTo(modifiable, step, signal);
      }
      default:
        return unreachable(step);
    }
  }

  /** A class that is missing, or of another driver, is waited for: its creation wakes the claim. */
  async #modifyTo(
    { claim, volume, driver }: Modifiable,
    { kind, className }: { readonly kind: 'start' | 'continue'; readonly className: string },
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const classes = this.#context.cluster.resource(volumeAttributesClasses);
    const found = await undefinedIfNotFound(classes.get({ name: className }, { signal }));
    const problem = problemOf(found, className, driver);
    if (found === undefined || problem !== undefined) {
      this.#recordEvent(claim, 'Warning', 'VolumeModifyFailed', problem ?? '');
      const pending = kind === 'start' ? modifyPendingStatus(claim) : undefined;
      if (pending !== undefined) await this.#patchClaim(claim, pending, signal);
      return undefined;
    }
    const begun = kind === 'start' ? await this.#begin(claim, className, signal) : claim;
    return await this.#call({ claim: begun, volume, driver }, found, signal);
  }

  async #begin(
    claim: PersistentVolumeClaim,
    className: string,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    const started = modifyStartedStatus(claim, className, this.#context.clock.nowMs());
    const begun = await this.#patchClaim(claim, started, signal);
    const note = `external resizer is modifying volume ${claim.metadata?.name} with vac ${className}`;
    this.#recordEvent(claim, 'Normal', 'VolumeModify', note);
    return begun;
  }

  async #call(
    modifiable: Modifiable,
    { metadata, parameters }: VolumeAttributesClass,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { claim, volume, driver } = modifiable;
    const { name: className = '' } = metadata ?? {};
    try {
      const request = {
        volumeId: volume.spec?.csi?.volumeHandle ?? '',
        secrets: await csiSecrets(this.#context.cluster, secretOf(volume), signal),
        mutableParameters: { ...parameters },
      };
      const { timeoutMs } = this.#options;
      const limits = timeoutMs === undefined ? { signal } : { signal, timeoutMs };
      await driver.call('ControllerModifyVolume', request, limits);
    } catch (error) {
      return signal.aborted ? undefined : await this.#fail(claim, className, { error, signal });
    }
    this.forget(keyOf(claim));
    await this.#finish(modifiable, className, signal);
    return undefined;
  }

  async #finish({ claim, volume }: Modifiable, className: string, signal: AbortSignal): Promise<void> {
    const { name = '', uid, resourceVersion } = volume.metadata ?? {};
    if (volume.spec?.volumeAttributesClassName !== className) {
      const body = {
        metadata: { uid, resourceVersion },
        spec: { volumeAttributesClassName: className },
      };
      this.#options.onWrite();
      const client = this.#context.cluster.resource(persistentVolumes);
      await client.patch({ name }, { type: 'merge', body }, { signal });
    }
    await this.#patchClaim(claim, modifyFinishedStatus(claim, className), signal);
    const note = `external resizer modified volume ${claim.metadata?.name} with vac ${className} successfully`;
    this.#recordEvent(claim, 'Normal', 'VolumeModifySuccessful', note);
  }

  /** An error before the call, such as a missing Secret, is not recorded in the status: it says nothing about the volume. */
  async #fail(
    claim: PersistentVolumeClaim,
    className: string,
    { error, signal }: { readonly error: unknown; readonly signal: AbortSignal },
  ): Promise<Requeue> {
    const key = keyOf(claim);
    const failure = error instanceof CsiError ? failureOf(error, className) : undefined;
    const isFutile = failure?.kind === 'infeasible';
    const afterMs = this.#backOff.failed(key, className, { isFutile });
    this.#options.onError(claim, error);
    const rest = failure?.kind === 'unknown' ? `. Still modifying to VAC ${className}` : '';
    this.#recordEvent(claim, 'Warning', 'VolumeModifyFailed', `${messageOf(error)}${rest}`);
    if (failure === undefined) return { afterMs };
    if (failure.kind === 'unknown') this.#failed.delete(key);
    else this.#failed.add(key);
    const status = modifyFailedStatus(claim, failure, this.#context.clock.nowMs());
    await this.#patchClaim(claim, status, signal);
    return { afterMs };
  }

  async #patchClaim(
    { metadata }: PersistentVolumeClaim,
    status: ModifyPatch,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    const { namespace, name = '', uid, resourceVersion } = metadata ?? {};
    const body = { metadata: { uid, resourceVersion }, status };
    this.#options.onWrite();
    const client = this.#context.cluster.resource(persistentVolumeClaims);
    const options = { subresource: 'status', signal } as const;
    return await client.patch({ namespace, name }, { type: 'merge', body }, options);
  }

  #recordEvent(claim: PersistentVolumeClaim, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const regarding = referenceTo(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
    this.#context.events.record({ regarding, type, reason, action: 'ModifyVolume', note });
  }
}

function problemOf(
  found: VolumeAttributesClass | undefined,
  className: string,
  driver: ServedCsiDriver,
): string | undefined {
  if (found === undefined) return `VAC "${className}" does not exist.`;
  if (found.driverName === driver.name) return undefined;
  return `VAC "${className}" is for driver ${found.driverName}, but the volume belongs to ${driver.name}.`;
}

/** Only InvalidArgument means that the volume can never have these parameters. */
function failureOf(error: CsiError, className: string): ModifyFailure {
  const code = error instanceof CsiCallError ? error.code : 'Unknown';
  const ended = code === 'InvalidArgument' ? 'infeasible' : 'ended';
  const kind = error.outcome.effect === 'unknown' ? 'unknown' : ended;
  return { className, reason: code, message: error.message, kind };
}

function secretOf({ metadata, spec }: PersistentVolume): SecretReference | undefined {
  const name = metadata?.annotations?.[secretNameAnnotation] ?? '';
  const namespace = metadata?.annotations?.[secretNamespaceAnnotation] ?? '';
  return name === '' || namespace === '' ? spec?.csi?.controllerExpandSecretRef : { namespace, name };
}
