import type { Cluster } from '../../../cluster/cluster.ts';
import { namespace } from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import type { AppliedJob } from '../../../engine/what-if/apply-object.ts';
import { podFromTemplate } from '../../../engine/workloads/template-pod.ts';
import type { Pod } from '../../../kube/api/core.ts';
import { controllerOf, controllerReference } from '../../../kube/owner-references.ts';
import { pods } from '../../../kube/resources.ts';
import type { Controller } from '../../../reconcile/controller.ts';
import { untilAborted } from '../../../runtime/abort.ts';
import type { Clock } from '../../../runtime/clock.ts';

const jobs = { group: 'batch', version: 'v1', namespaced: true, kind: 'Job', plural: 'jobs' } as const;

/** Shorter than pods take to end, and unlike any other time here. Kubernetes' controller collects events for a second, while pods take longer to end. */
const replacementMs = 170;

/** As much of Kubernetes' Job controller as concerns places: pods up to the parallelism, and another one soon after one is being deleted. */
export class JobPods {
  readonly #cluster: Cluster;
  readonly #jobs = new Map<string, AppliedJob>();
  readonly #replaced = new Set<string>();
  /** The Jobs of deleted pods. Key: the time of the deletion. */
  readonly #deleted = new Map<number, string[]>();
  #created = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async create(job: AppliedJob): Promise<void> {
    const { name = '' } = job.metadata ?? {};
    const { parallelism = 1, completions = parallelism } = job.spec ?? {};
    // The garbage collector deletes the pods of owners that do not exist.
    const { metadata } = await this.#cluster.resource<AppliedJob>(jobs as never).create(job as never);
    this.#jobs.set(name, { ...job, metadata: { ...job.metadata, uid: metadata?.uid ?? '' } });
    for (let left = Math.min(parallelism, completions); left > 0; left -= 1) await this.#createPod(name);
  }

  get controller(): Controller {
    return {
      name: 'job-pods',
      run: async ({ informers, clock }, signal) => {
        const stop = informers.of(pods).addHandler({ updated: (pod) => this.#observe(pod, clock, signal) });
        await untilAborted(signal);
        stop();
      },
    };
  }

  #observe(pod: Pod, clock: Clock, signal: AbortSignal): void {
    const owner = controllerOf(pod);
    const { uid = '', deletionTimestamp } = pod.metadata ?? {};
    if (owner?.kind !== 'Job' || deletionTimestamp === undefined || this.#replaced.has(uid)) return;
    this.#replaced.add(uid);
    const nowMs = clock.nowMs();
    const deleted = this.#deleted.get(nowMs) ?? [];
    this.#deleted.set(nowMs, [...deleted, owner.name ?? '']);
    if (deleted.length === 0) void this.#replace(nowMs, clock.sleep(replacementMs, signal));
  }

  /** Jobs take turns, as ReplicaSets do. */
  async #replace(deletedMs: number, wait: Promise<void>): Promise<void> {
    await wait;
    const left = this.#deleted.get(deletedMs) ?? [];
    while (left.length > 0)
      for (const name of new Set(left)) {
        left.splice(left.indexOf(name), 1);
        await this.#createPod(name);
      }
  }

  async #createPod(name: string): Promise<void> {
    const job = this.#jobs.get(name)!;
    this.#created += 1;
    const pod = podFromTemplate(job.spec?.template ?? {}, namespace, controllerReference(job, jobs));
    const metadata = { ...pod.metadata, name: `${name}-${this.#created}` };
    await this.#cluster.resource(pods).create({ ...pod, metadata });
  }
}
