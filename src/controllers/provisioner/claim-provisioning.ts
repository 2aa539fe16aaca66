import type { ResourceClient } from '../../cluster/cluster.ts';
import type { Node, PersistentVolumeClaim } from '../../kube/api/core.ts';
import type { StorageClass } from '../../kube/api/storage.ts';
import { isReason } from '../../kube/api-error.ts';
import { keyOf, parseKey } from '../../kube/object-key.ts';
import { nodes, persistentVolumeClaims, persistentVolumes, storageClasses } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { claimClassName, isClaimRefTo } from '../../kube/volumes.ts';
import { annotations } from '../../kube/well-known.ts';
import { lookUp } from '../../kube/wire.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import { referenceTo } from '../../reconcile/event-recorder.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { messageOf } from '../../runtime/error-message.ts';
import { demandOf, needsVolume, provisionerOf, type VolumeDemand } from './claim-demand.ts';
import type { ClaimWatch } from './claim-watch.ts';
import {
  type ClearIntentOptions,
  clearIntent,
  intentOf,
  type ProvisioningIntent,
  storeIntent,
} from './intent.ts';
import { provisionedVolume } from './provisioned-volume.ts';
import { assetOf, type Provisioner, type Provisioners, type VolumePlan } from './provisioner.ts';
import { spreadPosition } from './spread.ts';

export interface ClaimProvisioningOptions {
  readonly context: ControllerContext;
  readonly provisioners: Provisioners;
  readonly watch: ClaimWatch;
  /** Off: WaitForFirstConsumer classes do not wait. */
  readonly volumeScheduling: boolean;
}

/** A claim to provision, and everything that was read for it. */
interface ProvisioningJob {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  readonly demand: VolumeDemand;
  readonly provisioner: Provisioner;
  readonly node: Node | undefined;
}

/** The volume of the claim's name: missing; its own; unrelated to us; ours, but bound to another claim; deleted. */
type Recorded = 'none' | 'own' | 'for another' | 'taken' | 'lost';

/**
 * Provisions one claim, from the request to the PersistentVolume. Its writes, and the state after a crash behind each:
 *
 * 1. the intent, on the claim: the claim cannot be removed before it is reconciled again; if it was deleted or requests something else by then,
 *    whatever may have been created is removed;
 * 2. the asset: its name comes from the uid, so it is found again, not created again;
 * 3. the PersistentVolume: found by its name, and only the intent has to be removed from the claim;
 * 4. the intent is removed, together with the selected node if the volume could not be created for that node.
 */
export class ClaimProvisioning {
  readonly #context: ControllerContext;
  readonly #provisioners: Provisioners;
  readonly #watch: ClaimWatch;
  readonly #claims: ResourceClient<PersistentVolumeClaim>;
  readonly #volumeScheduling: boolean;

  constructor({ context, provisioners, watch, volumeScheduling }: ClaimProvisioningOptions) {
    this.#volumeScheduling = volumeScheduling;
    this.#context = context;
    this.#provisioners = provisioners;
    this.#watch = watch;
    this.#claims = context.cluster.resource(persistentVolumeClaims);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const claim = await undefinedIfNotFound(this.#claims.get(parseKey(key), { signal }));
    if (claim === undefined) return undefined;
    const intent = intentOf(claim);
    if (intent !== undefined && !this.#provisioners.has(intent.provisioner)) return undefined;
    if (intent === undefined && !this.#isRequested(claim)) return undefined;
    const record = await this.#recordOf(claim, intent, signal);
    if (record === 'own') return await this.#finish(claim, intent, signal);
    if (record === 'for another' || record === 'taken')
      this.#refuse(claim, `persistentvolume "pvc-${claim.metadata?.uid}" already exists, for another claim`);
    if (record === 'taken' || record === 'lost') return await this.#clear(claim, {}, signal);
    if (record === 'for another' || !needsVolume(claim))
      return await this.#withdraw(claim, intent, {}, signal);
    return await this.#provisionClaim(claim, intent, signal);
  }

  #isRequested(claim: PersistentVolumeClaim): boolean {
    return needsVolume(claim) && this.#provisioners.has(provisionerOf(claim));
  }

  /** A recorded volume may contain data: then the asset is left to the claim that has, or had, the volume. */
  async #recordOf(
    claim: PersistentVolumeClaim,
    intent: ProvisioningIntent | undefined,
    signal: AbortSignal,
  ): Promise<Recorded> {
    const { name } = assetOf(claim.metadata?.uid ?? '');
    const volume = await undefinedIfNotFound(
      this.#context.cluster.resource(persistentVolumes).get({ name }, { signal }),
    );
    if (volume === undefined) return claim.spec?.volumeName === name ? 'lost' : 'none';
    if (isClaimRefTo(volume.spec?.claimRef, claim)) return 'own';
    const creator = lookUp(volume.metadata?.annotations, annotations.provisionedBy);
    return intent !== undefined && creator === intent.provisioner ? 'taken' : 'for another';
  }

  async #finish(
    claim: PersistentVolumeClaim,
    intent: ProvisioningIntent | undefined,
    signal: AbortSignal,
  ): Promise<undefined> {
    if (intent === undefined) return;
    // The only place that records success: the process that wrote the volume may have crashed right after it.
    const { name } = assetOf(claim.metadata?.uid ?? '');
    this.#recordEvent(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`);
    await this.#clear(claim, {}, signal);
  }

  /** Removes what may have been created and is no longer needed. */
  async #withdraw(
    claim: PersistentVolumeClaim,
    intent: ProvisioningIntent | undefined,
    options: ClearIntentOptions,
    signal: AbortSignal,
  ): Promise<undefined> {
    const creator = intent === undefined ? undefined : this.#provisioners.get(intent.provisioner);
    await creator?.delete(assetOf(claim.metadata?.uid ?? ''), signal);
    await this.#clear(claim, options, signal);
  }

  async #provisionClaim(
    claim: PersistentVolumeClaim,
    intent: ProvisioningIntent | undefined,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const className = claimClassName(claim);
    const classes = this.#context.cluster.resource(storageClasses);
    const storageClass = await undefinedIfNotFound(classes.get({ name: className }, { signal }));
    const demand = storageClass && demandOf(claim, storageClass, this.#volumeScheduling);
    if (intent !== undefined && (demand?.provisioner !== intent.provisioner || demand.node !== intent.node)) {
      await this.#withdraw(claim, intent, {}, signal);
      // The next run starts from the beginning, on the version without the intent.
      return {};
    }
    if (storageClass === undefined) {
      this.#refuse(claim, `storageclass.storage.k8s.io "${className}" not found`);
      return undefined;
    }
    const provisioner = this.#provisioners.get(demand?.provisioner ?? '');
    if (demand === undefined || provisioner === undefined) return undefined;
    const node = demand.node === '' ? undefined : await this.#nodeNamed(demand.node, signal);
    if (node === undefined && demand.node !== '') {
      this.#refuse(claim, `failed to get target node: nodes "${demand.node}" not found`);
      return await this.#withdraw(claim, intent, { dropsSelectedNode: true }, signal);
    }
    return await this.#provision({ claim, storageClass, demand, provisioner, node }, signal);
  }

  async #nodeNamed(name: string, signal: AbortSignal): Promise<Node | undefined> {
    return await undefinedIfNotFound(this.#context.cluster.resource(nodes).get({ name }, { signal }));
  }

  async #provision(job: ProvisioningJob, signal: AbortSignal): Promise<Requeue | undefined> {
    const { claim, demand, provisioner } = job;
    const planned = this.#plan(job);
    if (planned.kind === 'refused') {
      this.#refuse(claim, failed(claim, planned.message));
      const dropsSelectedNode = demand.node !== '';
      return await this.#withdraw(claim, intentOf(claim), { dropsSelectedNode }, signal);
    }
    const { namespace, name } = claim.metadata ?? {};
    const withIntent =
      intentOf(claim) === undefined ? await storeIntent(this.#claims, claim, demand, signal) : claim;
    this.#recordEvent(
      withIntent,
      'Normal',
      'Provisioning',
      `External provisioner is provisioning volume for claim "${namespace}/${name}"`,
    );
    const created = await this.#create(provisioner, planned.plan, withIntent, signal);
    if (created.kind === 'created')
      return await this.#record({ ...job, claim: withIntent }, created.plan, signal);
    this.#recordEvent(withIntent, 'Warning', 'ProvisioningFailed', failed(withIntent, created.message));
    const options = { dropsSelectedNode: demand.node !== '' };
    // An earlier attempt may have created the volume: a driver that refuses the repetition has not necessarily removed it.
    if (intentOf(claim) !== undefined) await this.#withdraw(withIntent, intentOf(claim), options, signal);
    else await this.#clear(withIntent, options, signal);
    // With a node, the scheduler chooses again and its write wakes us. Without one, no event would.
    return demand.node === '' ? {} : undefined;
  }

  #plan({ claim, storageClass, provisioner, node }: ProvisioningJob) {
    return provisioner.plan({
      asset: assetOf(claim.metadata?.uid ?? ''),
      claim,
      storageClass,
      ...(node === undefined ? {} : { selectedNode: node }),
      nodes: this.#watch.allNodes(),
      spread: spreadPosition(claim, this.#watch.allClaims()),
    });
  }

  async #create(
    provisioner: Provisioner,
    plan: VolumePlan,
    claim: PersistentVolumeClaim,
    signal: AbortSignal,
  ) {
    try {
      return await provisioner.create(plan, signal);
    } catch (error) {
      // It is unknown what was created: the intent stays, and so does the node.
      if (!signal.aborted)
        this.#recordEvent(claim, 'Warning', 'ProvisioningFailed', failed(claim, messageOf(error)));
      throw error;
    }
  }

  async #record(
    { claim, storageClass }: ProvisioningJob,
    plan: VolumePlan,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const { namespace, name } = claim.metadata ?? {};
    try {
      const volume = provisionedVolume(plan, claim, storageClass);
      await this.#context.cluster.resource(persistentVolumes).create(volume, { signal });
    } catch (error) {
      // Another process was faster; the next run handles its volume like any existing one.
      if (isReason(error, 'AlreadyExists')) return {};
      const note = `Error creating provisioned PV object for claim ${namespace}/${name}: ${messageOf(error)}`;
      if (!signal.aborted) this.#recordEvent(claim, 'Warning', 'ProvisioningFailed', note);
      throw error;
    }
    return await this.#finish(claim, intentOf(claim), signal);
  }

  /** A claim that was deleted meanwhile has nothing left to clear. */
  async #clear(
    claim: PersistentVolumeClaim,
    options: ClearIntentOptions,
    signal: AbortSignal,
  ): Promise<undefined> {
    await undefinedIfNotFound(clearIntent(this.#claims, claim, options, signal));
  }

  /** Records an Event, and reconciles the claim again when a class or a node changes. */
  #refuse(claim: PersistentVolumeClaim, note: string): void {
    this.#recordEvent(claim, 'Warning', 'ProvisioningFailed', note);
    this.#watch.waitForChange(keyOf(claim));
  }

  #recordEvent(claim: PersistentVolumeClaim, type: 'Normal' | 'Warning', reason: string, note: string): void {
    const regarding = referenceTo(claim, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' });
    this.#context.events.record({ regarding, type, reason, action: 'Provisioning', note });
  }
}

function failed(claim: PersistentVolumeClaim, message: string): string {
  return `failed to provision volume with StorageClass "${claimClassName(claim)}": ${message}`;
}
