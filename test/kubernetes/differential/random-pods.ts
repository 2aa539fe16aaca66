/** Random pods that a server takes: those that stand on nodes, and those that ask for one. */
import fc from 'fast-check';
import { compact, sometimes } from '../../../src/engine/testing/random/chance.ts';
import {
  claimNames,
  drivers,
  named,
  nodeNames,
  otherClaimNames,
} from '../../../src/engine/testing/random/names.ts';
import type { Container, Pod, PodSpec, Volume } from '../../../src/kube/core.ts';
import { drawsTerminating } from './differences.ts';
import { gpu, priorities } from './names.ts';
import { arbNodeAffinity, arbPodAffinity, arbSpread, arbTolerations } from './random-wishes.ts';
import type { Theme } from './themes.ts';

const arbLabels = fc.record(
  { app: fc.constantFrom('x', 'x', 'y'), tier: fc.constantFrom('1', '2') },
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, string>>;

const arbRequests = fc
  .record({
    cpu: sometimes(70, fc.constantFrom('100m', '1', '1500m', '2', '3', '0')),
    memory: sometimes(50, fc.constantFrom('100Mi', '1Gi', '2Gi', '1500M', '0')),
    'ephemeral-storage': sometimes(15, fc.constantFrom('1Gi', '5Gi')),
    [gpu]: sometimes(15, fc.constantFrom('1', '2')),
    'example.com/rare': sometimes(4, fc.constant('1')),
    'hugepages-2Mi': sometimes(4, fc.constantFrom('2Mi', '4Mi')),
  })
  .map(compact);

/** Extended resources and huge pages can't be overcommitted: the server wants a limit as large. */
function limitsFor(requests: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(requests).filter(([name]) => name.includes('/') || name.startsWith('hugepages')),
  );
}

function container(name: string, requests: Readonly<Record<string, string>>): Container {
  const limits = limitsFor(requests);
  const needsMemory = 'hugepages-2Mi' in limits && !('memory' in requests) && !('cpu' in requests);
  return {
    name,
    image: 'pause',
    resources: { requests: needsMemory ? { ...requests, cpu: '1m' } : requests, limits },
  };
}

const arbPorts = fc.uniqueArray(
  fc.record({
    hostPort: fc.constantFrom(80, 80, 443),
    protocol: fc.constantFrom('TCP' as const, 'TCP' as const, 'UDP' as const),
    hostIP: fc.constantFrom(undefined, undefined, '0.0.0.0', '10.0.0.1', '10.0.0.2'),
  }),
  {
    minLength: 1,
    maxLength: 2,
    selector: ({ hostPort, protocol, hostIP }) => `${hostPort}${protocol}${hostIP}`,
  },
);

const arbContainers = (theme: Theme) =>
  fc
    .record({
      main: sometimes(theme.resources, arbRequests),
      side: sometimes(Math.round(theme.resources / 4), arbRequests),
      first: sometimes(Math.round(theme.resources / 4), arbRequests),
      sidecar: sometimes(Math.round(theme.resources / 6), arbRequests),
      whole: sometimes(
        Math.round(theme.resources / 10),
        fc.constantFrom({ cpu: '7' }, { cpu: '8', memory: '8Gi' }),
      ),
      ports: sometimes(theme.ports, arbPorts),
    })
    .map(({ main, side, first, sidecar, whole, ports }): Partial<PodSpec> => {
      const withPorts = ports?.map((port) => compact({ ...port, containerPort: port.hostPort }));
      const initContainers = [
        ...(sidecar === undefined
          ? []
          : [{ ...container('sidecar', sidecar), restartPolicy: 'Always' as const }]),
        ...(first === undefined ? [] : [container('first', first)]),
      ];
      return compact({
        containers: [
          { ...container('main', main ?? {}), ...(withPorts && { ports: withPorts }) },
          ...(side === undefined ? [] : [container('side', side)]),
        ],
        initContainers: initContainers.length > 0 ? initContainers : undefined,
        resources: whole === undefined ? undefined : { requests: whole },
      }) as Partial<PodSpec>;
    });

const arbInline: fc.Arbitrary<Volume> = fc.oneof(
  fc.constantFrom(...drivers).map((driver) => ({ name: 'scratch', csi: { driver } })),
  fc.constantFrom('vol-1', 'vol-2').map((volumeID) => ({ name: 'disk', awsElasticBlockStore: { volumeID } })),
  fc
    .tuple(fc.constantFrom('disk-1', 'disk-2'), fc.boolean())
    .map(([pdName, readOnly]) => ({ name: 'disk', gcePersistentDisk: { pdName, readOnly } })),
  fc.constantFrom('t1', 't2').map((iqn) => ({
    name: 'disk',
    iscsi: { iqn: `iqn.2001-04.com.example:${iqn}`, targetPortal: '10.0.0.9:3260', lun: 0 },
  })),
);

function arbVolumes(theme: Theme, names: readonly string[]): fc.Arbitrary<Volume[]> {
  return fc
    .record({
      claims: fc.oneof(
        { weight: 100 - theme.volumes, arbitrary: fc.constant<string[]>([]) },
        { weight: theme.volumes, arbitrary: fc.shuffledSubarray([...names], { minLength: 1, maxLength: 3 }) },
      ),
      missing: sometimes(Math.round(theme.volumes / 40), fc.constant('nowhere')),
      inline: sometimes(theme.disks, arbInline),
    })
    .map(({ claims, missing, inline }) => [
      ...[...claims, ...(missing === undefined ? [] : [missing])].map((claimName) => ({
        name: claimName,
        persistentVolumeClaim: { claimName },
      })),
      ...(inline === undefined ? [] : [inline]),
    ]);
}

/** The pod that asks. Its name is given when it is created. */
export function arbAskingPod(theme: Theme): fc.Arbitrary<Pod> {
  return fc
    .record({
      labels: arbLabels,
      containers: arbContainers(theme),
      volumes: arbVolumes(theme, claimNames),
      nodes: sometimes(theme.nodes, arbNodeAffinity),
      tolerations: sometimes(theme.nodes, arbTolerations),
      affinity: sometimes(theme.neighbours, arbPodAffinity),
      spread: sometimes(theme.spread, arbSpread),
      priorityClassName: sometimes(
        theme.priorities,
        fc.constantFrom('high', 'high', 'high', 'high', 'polite', 'low'),
      ),
    })
    .map(({ labels, containers, volumes, nodes, affinity, ...rest }) => ({
      metadata: { namespace: 'default', labels },
      spec: compact({
        ...containers,
        volumes,
        nodeSelector: nodes?.nodeSelector,
        affinity: compact({ nodeAffinity: nodes?.nodeAffinity, ...affinity }),
        tolerations: rest.tolerations,
        topologySpreadConstraints: rest.spread,
        priorityClassName: rest.priorityClassName,
      }) as PodSpec,
    }));
}

export const standingNames = named('other', 8);

/** Stands on a node, has run there, or waits for a scheduler that doesn't exist. */
export function arbStandingPod(name: string, theme: Theme, nodes: readonly string[]): fc.Arbitrary<Pod> {
  return fc
    .record({
      namespace: fc.constantFrom('default', 'default', 'default', 'blue'),
      labels: arbLabels,
      nodeName: sometimes(
        94,
        fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...nodes) }, fc.constantFrom(...nodeNames)),
      ),
      containers: arbContainers(theme),
      volumes: sometimes(60, arbVolumes(theme, [...otherClaimNames, ...claimNames])),
      affinity: sometimes(theme.neighbours, arbPodAffinity),
      state: fc.constantFrom('', '', '', '', '', '', '', 'deleting', 'finished'),
      priorityClassName: sometimes(60, fc.constantFrom('low', ...Object.keys(priorities))),
    })
    .map(({ namespace, labels, nodeName, containers, volumes, affinity, state, priorityClassName }) => ({
      metadata: {
        namespace,
        name,
        labels,
        ...(state === 'deleting' && drawsTerminating(theme) && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      },
      spec: compact({
        ...containers,
        volumes: volumes ?? [],
        affinity,
        nodeName,
        schedulerName: nodeName === undefined ? 'nobody' : undefined,
        priorityClassName,
      }) as PodSpec,
      ...(state === 'finished' && { status: { phase: 'Succeeded' as const } }),
    }));
}
