import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../../src/cluster/cluster.ts';
import type { PersistentVolumeClaim, Pod } from '../../../src/kube/api/core.ts';
import type { KubeObject } from '../../../src/kube/api/meta.ts';
import type { Resource } from '../../../src/kube/resource.ts';
import { persistentVolumeClaims, pods } from '../../../src/kube/resources.ts';
import { bedFiles, schedulerCommand } from '../command-lines.ts';
import { ProcessSupervisor } from '../process-supervisor.ts';
import type { TestBed } from '../test-bed.ts';
import type { EphemeralClaim, PodCase } from './random-case.ts';
import { RecordingExtender } from './recording-extender.ts';
import { fits, type Verdict } from './verdict.ts';

const name = 'kube-scheduler';
/** Usually ten milliseconds; longer on a busy machine. */
const verdictMaxMs = 120_000;

/**
 * A kube-scheduler that changes nothing: an extender, which it calls last, keeps it from binding, and it has no right to evict. So it can
 * decide about any number of pods, one after another, in the same cluster.
 */
export class RealScheduler {
  readonly #cluster: Cluster;
  readonly #extender: RecordingExtender;
  readonly #supervisor: ProcessSupervisor;
  readonly #refusals = new Map<string, (pod: Pod) => void>();
  readonly #watching = new AbortController();
  #asked = 0;

  private constructor(cluster: Cluster, extender: RecordingExtender, supervisor: ProcessSupervisor) {
    this.#cluster = cluster;
    this.#extender = extender;
    this.#supervisor = supervisor;
  }

  static async start(bed: TestBed, program: string): Promise<RealScheduler> {
    const cluster = await bed.connect();
    await forbidEvictions(cluster);
    const extender = await RecordingExtender.start();
    const data = join(bed.folder, 'scheduler');
    await mkdir(data);
    const supervisor = new ProcessSupervisor({ data, logs: join(bed.folder, 'logs') });
    const config = join(data, 'config.json');
    await writeFile(config, JSON.stringify(configuration(bed.kubeconfigOf('scheduler'), extender.url)));
    const settings = { kubeconfig: bed.kubeconfigOf('scheduler'), extraFlags: { config } };
    await supervisor.start(name, schedulerCommand(program, bedFiles(data), settings));
    const scheduler = new RealScheduler(cluster, extender, supervisor);
    await scheduler.#watch();
    return scheduler;
  }

  /** Creates the pod, waits for the verdict, and deletes the pod. The cluster is then unchanged. */
  async ask(incoming: PodCase): Promise<RealVerdict> {
    this.#asked += 1;
    const key = { namespace: incoming.pod.metadata?.namespace ?? '', name: `asks-${this.#asked}` };
    const patience = new AbortController();
    const said = Promise.race([
      this.#extender.nodesFor(key.name, patience.signal).then(fits),
      this.#refusalOf(key.name, patience.signal),
      sleep(verdictMaxMs, undefined, { signal: patience.signal, ref: false }).catch(() => undefined),
    ]);
    const created: Created[] = [];
    try {
      const { pod, claims } = await this.#create(incoming, key, created);
      const verdict = await said;
      if (verdict === undefined) throw new Error(`no verdict of kube-scheduler about ${key.name}`);
      return { pod, claims, verdict };
    } finally {
      patience.abort();
      for (const { resource, name } of created)
        await this.#cluster.resource(resource).delete({ ...key, name }, { gracePeriodSeconds: 0 });
    }
  }

  /** A pod with an ephemeral volume has a scheduling gate until its claim exists, because the claim needs the pod's uid. */
  async #create(
    { pod, cache }: PodCase,
    key: PodKey,
    created: Created[],
  ): Promise<Omit<RealVerdict, 'verdict'>> {
    const client = this.#cluster.resource(pods);
    const metadata = { ...pod.metadata, ...key };
    if (cache === undefined) {
      const free = await client.create({ ...pod, metadata });
      created.push({ resource: pods, name: key.name });
      return { pod: free, claims: [] };
    }
    const spec = { ...pod.spec, schedulingGates: [{ name: 'stowage.dev/claim' }] };
    const held = await client.create({ ...pod, metadata, spec });
    created.push({ resource: pods, name: key.name });
    const claim = await this.#cluster.resource(persistentVolumeClaims).create(claimFor(held, cache));
    created.push({ resource: persistentVolumeClaims, name: `${key.name}-cache` });
    const operations = [{ op: 'remove', path: '/spec/schedulingGates' }] as const;
    return { pod: await client.patch(key, { type: 'json', operations }), claims: [claim] };
  }

  async close(): Promise<void> {
    this.#watching.abort();
    await this.#supervisor.end();
    await this.#extender.close();
  }

  async #refusalOf(podName: string, signal: AbortSignal): Promise<Verdict> {
    const refused = await new Promise<Pod>((resolve) => {
      this.#refusals.set(podName, resolve);
      signal.addEventListener('abort', () => this.#refusals.delete(podName));
    });
    const condition = refused.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    return {
      kind: 'refused',
      message: condition?.message ?? '',
      preemptsOn: refused.status?.nominatedNodeName ?? '',
    };
  }

  async #watch(): Promise<void> {
    const { metadata } = await this.#cluster.resource(pods).list();
    void this.#listen(metadata.resourceVersion);
  }

  async #listen(from: string): Promise<void> {
    let resourceVersion = from;
    while (!this.#watching.signal.aborted) {
      const events = this.#cluster.resource(pods).watch({ resourceVersion, signal: this.#watching.signal });
      for await (const event of events) {
        if (event.type === 'BOOKMARK') continue;
        resourceVersion = event.object.metadata?.resourceVersion ?? resourceVersion;
        this.#record(event.object);
      }
    }
  }

  #record(pod: Pod): void {
    const isRefused = pod.status?.conditions?.some(
      ({ type, status, reason }) =>
        type === 'PodScheduled' && status === 'False' && reason !== 'SchedulingGated',
    );
    if (isRefused === true) this.#refusals.get(pod.metadata?.name ?? '')?.(pod);
  }
}

interface PodKey {
  readonly namespace: string;
  readonly name: string;
}

interface Created {
  readonly resource: Resource;
  readonly name: string;
}

export interface RealVerdict {
  /** As the server stored it. */
  readonly pod: Pod;
  /** The claims of its ephemeral volumes. */
  readonly claims: readonly PersistentVolumeClaim[];
  readonly verdict: Verdict;
}

function claimFor({ metadata }: Pod, { claim, isOwned }: EphemeralClaim): PersistentVolumeClaim {
  const { name = '', namespace = '', uid = '' } = metadata ?? {};
  const owner = { apiVersion: 'v1', kind: 'Pod', name, uid: isOwned ? uid : 'another', controller: true };
  const { annotations } = claim.metadata ?? {};
  return {
    metadata: {
      namespace,
      name: `${name}-cache`,
      ownerReferences: [owner],
      ...(annotations && { annotations }),
    },
    ...(claim.spec && { spec: claim.spec }),
  };
}

function configuration(kubeconfig: string, extenderUrl: string): object {
  return {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig, qps: 1000, burst: 1000 },
    leaderElection: { leaderElect: false },
    // Each pod gets one attempt, and is deleted before the second.
    podInitialBackoffSeconds: 60,
    podMaxBackoffSeconds: 60,
    extenders: [{ urlPrefix: extenderUrl, filterVerb: 'filter', nodeCacheCapable: true }],
  };
}

interface ClusterRole extends KubeObject {
  readonly rules?: readonly { readonly resources?: readonly string[]; readonly verbs: readonly string[] }[];
}

const clusterRoles = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
} as const;

/** Victims are not evicted; the nominated node of the pod shows the preemption. */
async function forbidEvictions(cluster: Cluster): Promise<void> {
  const roles = cluster.resource<ClusterRole>(clusterRoles);
  const role = await roles.get({ name: 'system:kube-scheduler' });
  const rules = role.rules?.map((rule) =>
    rule.resources?.includes('pods') === true
      ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'delete') }
      : rule,
  );
  await roles.update({ ...role, ...(rules && { rules }) });
}
