import { namespace } from '../../../controllers/scheduler/testing/scheduler-fixture.ts';
import type { AppliedJob } from '../../../engine/what-if/apply-object.ts';
import type { Deployment, ReplicaSet, StatefulSet } from '../../../kube/api/apps.ts';
import type { PersistentVolumeClaim, Pod, PodSpec, PodTemplateSpec, Volume } from '../../../kube/api/core.ts';
import { inlineSizeAttribute } from '../../../kube/inline-volumes.ts';
import { drivesDriver } from '../../../kube/stowage/drive.ts';
import { annotations, labels } from '../../../kube/well-known.ts';
import type { Random } from '../../../runtime/random.ts';

export const randomZones = ['a', 'b'];

export const highPriority = { metadata: { name: 'high' }, value: 10 } as const;

/** Pods take a second to end, so that all pods that are created at one time exist before the first of them is deleted. */
const ending = { [annotations.terminationSeconds]: '1' };

/** The pods of Jobs do not end while the test runs. */
const running = { [annotations.runSeconds]: '1000000' };

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

  /** A pod with its own claim, as a file would have them. */
  podWithClaim(): readonly [PersistentVolumeClaim, Pod] {
    const pod = this.barePod();
    const name = pod.metadata!.name!;
    const data = { name: 'data', persistentVolumeClaim: { claimName: name } };
    const volumes = [...(pod.spec?.volumes ?? []), data];
    return [
      { kind: 'PersistentVolumeClaim', metadata: { namespace, name }, spec: this.#claimSpec() },
      { ...pod, spec: { ...pod.spec, volumes } },
    ];
  }

  /** No controller creates it again, so it must not be preempted. */
  daemonPod(nodeName: string, uid: string): Pod {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid, controller: true };
    return {
      metadata: { namespace, name: this.#name('agent'), ownerReferences: [owner] },
      spec: { ...this.#spec('agent'), volumes: [], priorityClassName: highPriority.metadata.name, nodeName },
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
        ...(random.next() < 0.25 && { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' } }),
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

  deployment(): Deployment {
    const { metadata, spec } = this.replicaSet();
    const strategy = this.#random.pick([
      undefined,
      { type: 'Recreate' as const },
      { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
    ]);
    return { kind: 'Deployment', metadata: metadata!, spec: { ...spec, ...(strategy && { strategy }) } };
  }

  job(): AppliedJob {
    const name = this.#name('job');
    const [parallelism, completions] = this.#random.pick([
      [1, 1],
      [2, 5],
      [3, 2],
    ] as const);
    const { template } = this.#template(name);
    const spec = { ...template.spec, restartPolicy: 'Never' as const };
    const metadata = { ...template.metadata, annotations: { ...ending, ...running } };
    return {
      kind: 'Job',
      metadata: { namespace, name },
      spec: { parallelism, completions, template: { metadata, spec } },
    };
  }

  /** The file of a workload after its owner has changed the template. */
  changed<T extends Deployment | StatefulSet>(workload: T): T {
    const random = this.#random;
    const { template } = workload.spec ?? {};
    const [container] = template?.spec?.containers ?? [];
    const requests = { cpu: random.pick(['100m', '0.3', '500m', '700m', '900m']) };
    const changed: PodTemplateSpec = {
      ...template,
      spec: {
        ...template?.spec,
        ...(random.next() < 0.2 && { nodeSelector: { [labels.zone]: random.pick(randomZones) } }),
        ...(random.next() < 0.2 && { priorityClassName: highPriority.metadata.name }),
        containers: [{ ...container!, resources: { requests } }],
      },
    };
    return { ...workload, spec: { ...workload.spec, template: changed } };
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

  /** Volumes that end with their pod. */
  #ownVolumes(): readonly Volume[] {
    const random = this.#random;
    const scratch = (): Volume => ({
      name: 'scratch',
      ephemeral: { volumeClaimTemplate: { spec: this.#claimSpec() } },
    });
    const inline = (name: string): Volume => ({
      name,
      csi: { driver: drivesDriver, volumeAttributes: { [inlineSizeAttribute]: random.pick(['1Gi', '3Gi']) } },
    });
    return [
      ...(random.next() < 0.15 ? [scratch()] : []),
      ...(this.#classes.includes('drives') && random.next() < 0.25 ? [inline('inline')] : []),
      ...(this.#classes.includes('drives') && random.next() < 0.1 ? [inline('another')] : []),
    ];
  }

  #spec(app: string): PodSpec {
    const random = this.#random;
    const term = { labelSelector: { matchLabels: { app } }, topologyKey: labels.hostname };
    const isApart = random.next() < 0.25;
    const volumes = this.#ownVolumes();
    return {
      schedulerName: 'stowage',
      terminationGracePeriodSeconds: 1,
      ...(volumes.length > 0 && { volumes }),
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
