import { namespace } from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import type { ReplicaSet, StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod, PodSpec } from '../../../kube/api/core.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import type { Random } from '../../../runtime/random.ts';

export const randomZones = ['a', 'b'];

export const highPriority = { metadata: { name: 'high' }, value: 10 } as const;

/** Pods take a second to end, so that all that is created at one time is there before any of them is gone. */
const ending = { [annotations.terminationSeconds]: '1' };

/** Draws workloads for small random clusters. Names never repeat. */
export class RandomPods {
  readonly #random: Random;
  readonly #classes: readonly string[];
  #names = 0;

  constructor(random: Random, classes: readonly string[]) {
    this.#random = random;
    this.#classes = classes;
  }

  barePod(): Pod {
    return {
      kind: 'Pod',
      metadata: { namespace, name: this.#name('bare'), annotations: ending },
      spec: this.#spec('bare'),
    };
  }

  /** A pod with a claim of its own, as a file would have them. */
  podWithClaim(): readonly [PersistentVolumeClaim, Pod] {
    const pod = this.barePod();
    const name = pod.metadata!.name!;
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }];
    return [
      { kind: 'PersistentVolumeClaim', metadata: { namespace, name }, spec: this.#claimSpec() },
      { ...pod, spec: { ...pod.spec, volumes } },
    ];
  }

  /** No controller creates it again, so it must not be preempted. */
  daemonPod(nodeName: string): Pod {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent', controller: true };
    return {
      metadata: { namespace, name: this.#name('agent'), ownerReferences: [owner] },
      spec: { ...this.#spec('agent'), priorityClassName: highPriority.metadata.name, nodeName },
    };
  }

  statefulSet(): StatefulSet {
    const random = this.#random;
    const name = this.#name('db');
    const claim = { metadata: { name: 'data' }, spec: this.#claimSpec() };
    return {
      kind: 'StatefulSet',
      metadata: { namespace, name },
      spec: {
        replicas: 1 + random.int(3),
        serviceName: name,
        podManagementPolicy: random.pick(['Parallel', 'Parallel', 'OrderedReady']),
        ...this.#template(name),
        volumeClaimTemplates: random.next() < 0.7 ? [claim] : [],
      },
    };
  }

  replicaSet(): ReplicaSet {
    const name = this.#name('web');
    const metadata = { namespace, name };
    return {
      kind: 'ReplicaSet',
      metadata,
      spec: { replicas: 1 + this.#random.int(3), ...this.#template(name) },
    };
  }

  #template(app: string) {
    const matchLabels = { app };
    return {
      selector: { matchLabels },
      template: { metadata: { labels: matchLabels, annotations: ending }, spec: this.#spec(app) },
    };
  }

  #claimSpec(): NonNullable<PersistentVolumeClaim['spec']> {
    return {
      accessModes: ['ReadWriteOnce'],
      storageClassName: this.#random.pick(this.#classes),
      resources: { requests: { storage: this.#random.pick(['1Gi', '4Gi']) } },
    };
  }

  #spec(app: string): PodSpec {
    const random = this.#random;
    const term = { labelSelector: { matchLabels: { app } }, topologyKey: labels.hostname };
    const isApart = random.next() < 0.25;
    return {
      schedulerName: 'stowage',
      terminationGracePeriodSeconds: 1,
      ...(random.next() < 0.25 && { priorityClassName: highPriority.metadata.name }),
      ...(random.next() < 0.15 && { nodeSelector: { [labels.zone]: random.pick(randomZones) } }),
      ...(isApart && {
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      }),
      containers: [
        {
          name: 'main',
          image: 'pause',
          resources: { requests: { cpu: random.pick(['100m', '500m', '900m']) } },
        },
      ],
    };
  }

  #name(prefix: string): string {
    this.#names += 1;
    return `${prefix}${this.#names}`;
  }
}
