/** Random containers: their requests and host ports. */
import fc from 'fast-check';
import { sometimes, withoutUndefined } from '../../../src/engine/testing/random/chance.ts';
import type {
  Container,
  ContainerPort,
  PodSpec,
  PodStatus,
  ResourceList,
} from '../../../src/kube/api/core.ts';
import { gpu, rare, runtimes } from './names.ts';
import type { Theme } from './themes.ts';

const arbCpu = fc.constantFrom('100m', '250m', '1', '1500m', '2', '3', '0', '0.0001');
const arbMemory = fc.constantFrom('100Mi', '1Gi', '2Gi', '1500M', '0', '0.5Gi', '123456789');

const arbRequests: fc.Arbitrary<ResourceList> = fc
  .record({
    cpu: sometimes(70, arbCpu),
    memory: sometimes(50, arbMemory),
    'ephemeral-storage': sometimes(15, fc.constantFrom('1Gi', '5Gi')),
    [gpu]: sometimes(15, fc.constantFrom('0', '1', '2')),
    [rare]: sometimes(5, fc.constant('1')),
    'hugepages-2Mi': sometimes(5, fc.constantFrom('2Mi', '4Mi')),
  })
  .map(withoutUndefined);

/** Extended resources and huge pages can't be overcommitted: the server requires an equal limit. */
function limitsFor(requests: ResourceList): ResourceList {
  return Object.fromEntries(
    Object.entries(requests).filter(([name]) => name.includes('/') || name.startsWith('hugepages')),
  );
}

const arbPort = fc
  .record({
    hostPort: fc.constantFrom(80, 80, 443),
    protocol: fc.constantFrom('TCP' as const, 'TCP' as const, 'UDP' as const, 'SCTP' as const),
    hostIP: fc.constantFrom(
      undefined,
      undefined,
      '0.0.0.0',
      '10.0.0.1',
      '10.0.0.2',
      '127.0.0.1',
      '::',
      '::1',
    ),
  })
  .map((port): ContainerPort => withoutUndefined({ ...port, containerPort: port.hostPort }));

const arbPorts = fc.uniqueArray(arbPort, {
  minLength: 1,
  maxLength: 2,
  selector: ({ hostPort, protocol, hostIP }) => `${hostPort}${protocol}${hostIP}`,
});

function arbContainer(theme: Theme, name: string): fc.Arbitrary<Container> {
  return fc
    .record({
      requests: sometimes(theme.resources, arbRequests),
      // The server uses limits as requests if there are no requests.
      isLimited: sometimes(10, fc.constant(true)),
      ports: sometimes(theme.ports, arbPorts),
    })
    .map(({ requests = {}, isLimited, ports }) => {
      const needsMore = 'hugepages-2Mi' in requests && !('memory' in requests) && !('cpu' in requests);
      const asked: ResourceList = needsMore ? { ...requests, cpu: '1m' } : requests;
      const resources = isLimited ? { limits: asked } : { requests: asked, limits: limitsFor(asked) };
      return withoutUndefined({ name, image: 'pause', resources, ports }) as Container;
    });
}

/** Init containers and sidecars, in any order. */
function arbFirst(theme: Theme): fc.Arbitrary<Container[]> {
  const arbOne = (name: string) =>
    fc.record({ container: arbContainer(theme, name), stays: fc.constantFrom(true, false, false) });
  return fc
    .tuple(arbOne('first'), arbOne('second'), arbOne('third'))
    .chain((all) => fc.subarray(all, { minLength: 1 }))
    .map((drawn) =>
      drawn.map(({ container, stays }) =>
        stays ? { ...container, restartPolicy: 'Always' as const } : container,
      ),
    );
}

/** Large enough for the containers, or everything that a node has. */
const arbWhole = fc.oneof(
  fc
    .constantFrom<ResourceList>({ cpu: '7' }, { cpu: '8', memory: '8Gi' })
    .map((requests) => ({ requests, isAll: false })),
  fc
    .constantFrom<ResourceList>(
      { cpu: '1' },
      { cpu: '2', memory: '1Gi' },
      { memory: '5Gi' },
      { cpu: '1500m' },
    )
    .map((requests) => ({ requests, isAll: true })),
);

/** Restart rules of a container; not every node supports them. */
const arbRules = fc.constant({
  restartPolicy: 'Never' as const,
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } }],
});

export function arbContainers(theme: Theme): fc.Arbitrary<Partial<PodSpec>> {
  const share = (part: number) => Math.round(theme.resources / part);
  return fc
    .record({
      main: arbContainer(theme, 'main'),
      side: sometimes(share(4) + Math.round(theme.ports / 4), arbContainer(theme, 'side')),
      first: sometimes(share(3) + Math.round(theme.ports / 4), arbFirst(theme)),
      whole: sometimes(share(8), arbWhole),
      rules: sometimes(Math.round(theme.nodes / 12), arbRules),
      hostNetwork: sometimes(Math.round(theme.ports / 4), fc.constant(true)),
      runtimeClassName: sometimes(share(10), fc.constantFrom(...Object.keys(runtimes))),
    })
    .map(({ main, side, first, whole, rules, ...rest }) => {
      const containers = [{ ...main, ...rules }, ...(side === undefined ? [] : [side])];
      const isAll = whole?.isAll === true;
      return withoutUndefined({
        ...rest,
        containers: isAll ? containers.map(withoutRequests) : containers,
        initContainers: isAll ? first?.map(withoutRequests) : first,
        resources: whole && { requests: whole.requests },
      }) as Partial<PodSpec>;
    });
}

function withoutRequests({ resources: _, ...container }: Container): Container {
  return container;
}

const arbGranted = fc
  .record({ cpu: sometimes(80, arbCpu), memory: sometimes(50, arbMemory) })
  .map((requests): ResourceList => withoutUndefined(requests));

/** The resources that a node reports as allocated: a resize is in progress, finished, or infeasible. */
export const arbGrants: fc.Arbitrary<PodStatus> = fc
  .record({
    granted: fc.tuple(arbGranted, arbGranted, arbGranted),
    inForce: fc.tuple(...['main', 'side', 'first'].map(() => sometimes(80, arbGranted))),
    whole: sometimes(30, fc.tuple(arbGranted, sometimes(70, arbGranted))),
    pending: fc.constantFrom(undefined, 'Deferred', 'Infeasible'),
  })
  .map(({ granted, inForce, whole, pending }) => {
    const statusOf = (name: string, at: number) => ({
      name,
      image: 'pause',
      imageID: '',
      ready: true,
      restartCount: 0,
      allocatedResources: granted[at]!,
      ...(inForce[at] && { resources: { requests: inForce[at] } }),
    });
    return withoutUndefined({
      phase: 'Running' as const,
      containerStatuses: [statusOf('main', 0), statusOf('side', 1)],
      initContainerStatuses: [statusOf('first', 2)],
      allocatedResources: whole?.[0],
      resources: whole?.[1] && { requests: whole[1] },
      conditions:
        pending === undefined
          ? undefined
          : [{ type: 'PodResizePending', status: 'True' as const, reason: pending }],
    }) as PodStatus;
  });
