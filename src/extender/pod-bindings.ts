import type { StandaloneBinding } from '../bind/standalone-binding.ts';
import type { Projected } from '../cluster/cluster.ts';
import { readPod } from '../engine/records/pod-record.ts';
import type { Pod } from '../kube/api/core.ts';
import type { BindingArgs } from './extender-protocol.ts';

interface RunningBinding {
  readonly node: string;
  readonly done: Promise<void>;
}

/**
 * Binds pods for kube-scheduler. kube-scheduler cancels its request after a few seconds and sends it again, so a second request for a pod joins
 * the first, and one for a pod that is already on the node succeeds.
 *
 * kube-scheduler binds the volumes before this request. If a caller has not, the extender binds them as Stowage's scheduler does.
 */
export class PodBindings {
  readonly #binding: StandaloneBinding;
  readonly #signal: AbortSignal;
  readonly #running = new Map<string, RunningBinding>();

  constructor(binding: StandaloneBinding, signal: AbortSignal) {
    this.#binding = binding;
    this.#signal = signal;
  }

  /** Rejects with the reason if the pod cannot be bound. */
  async bind({ namespace, name, uid, node }: BindingArgs): Promise<void> {
    const key = `${namespace}/${name}`;
    const running = this.#running.get(uid);
    if (running !== undefined && running.node !== node)
      throw new Error(`pod ${key} is being bound to node "${running.node}" already`);
    if (running !== undefined) return await running.done;
    const pod = this.#binding.feed.get('Pod', key);
    if (pod?.metadata?.uid !== uid)
      throw new Error(`pod ${key} with uid ${uid} was deleted, or is not in the cache yet`);
    const assigned = pod.spec?.nodeName ?? '';
    if (assigned === node) return;
    if (assigned !== '') throw new Error(`pod ${key} is already assigned to node "${assigned}"`);
    const done = this.#start(pod, node).finally(() => this.#running.delete(uid));
    this.#running.set(uid, { node, done });
    await done;
  }

  async #start(pod: Projected<Pod>, node: string): Promise<void> {
    const { index } = this.#binding;
    const isBound = readPod(pod).claims.every(({ key }) => index.claims.get(key)?.isBound === true);
    if (isBound) return await this.#binding.session.podWrites.bind(pod, node, this.#signal);
    const assessment = this.#binding.assess(pod, [node]);
    const placement = assessment.placementOn(node);
    if (placement === undefined) {
      const [answer] = assessment.answers;
      throw new Error(answer?.kind === 'refused' ? answer.texts.join(', ') : `node "${node}" not found`);
    }
    const reserved = this.#binding.session.reserve(placement);
    if (reserved.kind === 'refused') {
      const problems = reserved.conflicts.map(({ object, problem }) => `${object} ${problem}`);
      throw new Error(problems.join(', '));
    }
    await this.#binding.session.bind(pod, reserved.reservation, { extent: 'volumes and pod' }, this.#signal);
  }
}
