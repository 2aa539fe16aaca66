import type { ResourceClient } from '../../cluster/cluster.ts';
import type { Node, PersistentVolumeClaim } from '../../kube/api/core.ts';
import { parseKey } from '../../kube/object-key.ts';
import { nodes, persistentVolumeClaims, persistentVolumes, storageClasses } from '../../kube/resources.ts';
import { undefinedIfNotFound } from '../../kube/undefined-if-not-found.ts';
import { claimClassName, isClaimRefTo } from '../../kube/volumes.ts';
import { annotations } from '../../kube/well-known.ts';
import { lookUp } from '../../kube/wire.ts';
import type { ControllerContext } from '../../reconcile/controller.ts';
import type { Requeue } from '../../reconcile/workers.ts';
import { demandOf, needsVolume, provisionerOf } from './claim-demand.ts';
import type { ClaimWatch } from './claim-watch.ts';
import type { NodeScope } from './csi/node-scope.ts';
import { intentOf, type ProvisioningIntent } from './intent.ts';
import { assetFor, type Provisioners } from './provisioner.ts';
import { ProvisioningSteps } from './provisioning-steps.ts';

export interface ClaimProvisioningOptions {
  readonly context: ControllerContext;
  readonly provisioners: Provisioners;
  readonly watch: ClaimWatch;
  /** Off: WaitForFirstConsumer classes do not wait. */
  readonly volumeScheduling: boolean;
  /** The node that this process serves; undefined for all nodes. */
  readonly scope?: NodeScope | undefined;
}

/** The volume of the claim's name: missing; its own; unrelated to us; ours, but bound to another claim; deleted. */
type Recorded = 'none' | 'own' | 'for another' | 'taken' | 'lost';

/** Decides what one claim needs next: `provisioning-steps.ts` carries it out, and says what makes each step safe. */
export class ClaimProvisioning {
  readonly #context: ControllerContext;
  readonly #provisioners: Provisioners;
  readonly #claims: ResourceClient<PersistentVolumeClaim>;
  readonly #volumeScheduling: boolean;
  readonly #scope: NodeScope | undefined;
  readonly #steps: ProvisioningSteps;

  constructor({ context, provisioners, watch, volumeScheduling, scope }: ClaimProvisioningOptions) {
    this.#volumeScheduling = volumeScheduling;
    this.#scope = scope;
    this.#context = context;
    this.#provisioners = provisioners;
    this.#claims = context.cluster.resource(persistentVolumeClaims);
    this.#steps = new ProvisioningSteps(context, watch, provisioners);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Requeue | undefined> {
    const claim = await undefinedIfNotFound(this.#claims.get(parseKey(key), { signal }));
    if (claim === undefined) return this.#steps.forget(key);
    const intent = intentOf(claim);
    if (intent !== undefined && !this.#provisioners.has(intent.provisioner)) return undefined;
    if (intent === undefined && !this.#isRequested(claim)) return undefined;
    if (this.#scope?.includes(claim, intent) === false)
      return await this.#scope.compete(claim, intent, signal);
    const record = await this.#recordOf(claim, intent, signal);
    if (record === 'own') return await this.#steps.finish(claim, intent, signal);
    if (record === 'for another' || record === 'taken')
      this.#steps.refuse(
        claim,
        `persistentvolume "${assetFor(claim).name}" already exists, for another claim`,
      );
    if (record === 'taken' || record === 'lost') return await this.#steps.clear(claim, {}, signal);
    if (record === 'for another' || !needsVolume(claim))
      return await this.#steps.withdraw(claim, intent, {}, signal);
    return (await this.#steps.repeatRecording(claim, signal)) ?? (await this.#serve(claim, intent, signal));
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
    const { name } = assetFor(claim);
    const volume = await undefinedIfNotFound(
      this.#context.cluster.resource(persistentVolumes).get({ name }, { signal }),
    );
    if (volume === undefined) return claim.spec?.volumeName === name ? 'lost' : 'none';
    if (isClaimRefTo(volume.spec?.claimRef, claim)) return 'own';
    const creator = lookUp(volume.metadata?.annotations, annotations.provisionedBy);
    return intent !== undefined && creator === intent.provisioner ? 'taken' : 'for another';
  }

  async #serve(
    claim: PersistentVolumeClaim,
    intent: ProvisioningIntent | undefined,
    signal: AbortSignal,
  ): Promise<Requeue | undefined> {
    const className = claimClassName(claim);
    const classes = this.#context.cluster.resource(storageClasses);
    const storageClass = await undefinedIfNotFound(classes.get({ name: className }, { signal }));
    const demand = storageClass && demandOf(claim, storageClass, this.#demandOptions);
    if (intent !== undefined && (demand?.provisioner !== intent.provisioner || demand.node !== intent.node)) {
      // The next run starts from the beginning, on the version without the intent.
      return (await this.#steps.withdraw(claim, intent, {}, signal)) ?? {};
    }
    if (storageClass === undefined)
      return this.#steps.refuse(claim, `storageclass.storage.k8s.io "${className}" not found`);
    const provisioner = this.#provisioners.get(demand?.provisioner ?? '');
    if (demand === undefined || provisioner === undefined) return undefined;
    const node = demand.node === '' ? undefined : await this.#nodeNamed(demand.node, signal);
    if (node === undefined && demand.node !== '') {
      this.#steps.refuse(claim, `failed to get target node: nodes "${demand.node}" not found`);
      return await this.#steps.withdraw(claim, intent, { dropsSelectedNode: true }, signal);
    }
    return await this.#steps.provision({ claim, storageClass, demand, provisioner, node }, signal);
  }

  get #demandOptions() {
    return { volumeScheduling: this.#volumeScheduling, isNodeDeployment: this.#scope !== undefined };
  }

  async #nodeNamed(name: string, signal: AbortSignal): Promise<Node | undefined> {
    return await undefinedIfNotFound(this.#context.cluster.resource(nodes).get({ name }, { signal }));
  }
}
