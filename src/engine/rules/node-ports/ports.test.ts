import { describe, expect, test } from 'vitest';
import type { ContainerPort, Pod } from '../../../kube/api/core.ts';
import type { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { podRequesting } from '../../testing/node-usage.ts';
import { plan } from '../../testing/whole-engine.ts';
import { eraseState } from '../framework/rule.ts';
import { nodePortsRule } from './rule.ts';

const rules = [eraseState(nodePortsRule)];
const taken = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.";

/** Reads `TCP/10.0.0.1/80`; empty parts are absent from the port. */
function port(text: string): ContainerPort {
  const [protocol, hostIP, hostPort] = text.split('/');
  return {
    hostPort: Number(hostPort),
    ...(protocol !== '' && { protocol: protocol as 'TCP' }),
    ...(hostIP !== '' && { hostIP: hostIP as string }),
  };
}

function podWith(name: string, ports: readonly string[], nodeName?: string): Pod {
  const pod = podRequesting(name, {}, ports.map(port));
  return { ...pod, spec: { ...pod.spec, ...(nodeName !== undefined && { nodeName }) } };
}

function cluster(...pods: readonly Pod[]): ClusterIndex {
  return clusterOf({ Node: [{ metadata: { name: 'n' } }], Pod: pods });
}

function answer(index: ClusterIndex, pod: Pod) {
  return plan(pod, index, { nowMs: 0, rules });
}

describe('a pod conflicts with another', () => {
  test.each<[string, string[], string[], boolean]>([
    ['not without ports', [], ['TCP//80'], false],
    ['not on another port', ['UDP/127.0.0.1/8080'], ['UDP/127.0.0.1/9090'], false],
    ['on the same UDP port', ['UDP/127.0.0.1/8080'], ['UDP/127.0.0.1/8080'], true],
    ['on the same TCP port', ['TCP/127.0.0.1/8080'], ['TCP/127.0.0.1/8080'], true],
    ['not at another address', ['TCP/127.0.0.1/8080'], ['TCP/127.0.0.2/8080'], false],
    ['not with another protocol', ['UDP/127.0.0.1/8080'], ['TCP/127.0.0.1/8080'], false],
    ['with one of several ports', ['UDP/127.0.0.1/8000', 'UDP/127.0.0.1/8080'], ['UDP/127.0.0.1/8080'], true],
    ['if the other uses every address', ['TCP/127.0.0.1/80'], ['TCP/0.0.0.0/80'], true],
    ['if it wants every address', ['TCP/0.0.0.0/80'], ['TCP/127.0.0.1/80'], true],
    ['if both have no address', ['TCP//80'], ['TCP//80'], true],
    ['if the protocol is absent, which means TCP', ['/127.0.0.1/80'], ['TCP//80'], true],
    ['not at every address with another protocol', ['TCP/127.0.0.1/80'], ['UDP/0.0.0.0/80'], false],
  ])('%s', (_name, wanted, used, collides) => {
    const result = answer(cluster(podWith('other', used, 'n')), podWith('asking', wanted));
    expect(result.kind === 'refusal' ? result.message : '').toBe(collides ? taken : '');
  });

  test('with ports of its sidecars, not of its other init containers', () => {
    const index = cluster(podWith('other', ['TCP//80'], 'n'));
    const asking = (restartPolicy?: 'Always'): Pod => ({
      metadata: { namespace: 'default', name: 'asking' },
      spec: { initContainers: [{ ports: [port('TCP//80')], ...(restartPolicy && { restartPolicy }) }] },
    });
    expect(answer(index, asking('Always')).kind).toBe('refusal');
    expect(answer(index, asking()).kind).toBe('placement');
  });

  test('in the host network only by hostPort, which the API server sets', () => {
    const other: Pod = {
      ...podWith('other', [], 'n'),
      spec: { nodeName: 'n', hostNetwork: true, containers: [{ ports: [{ containerPort: 80 }] }] },
    };
    expect(answer(cluster(other), podWith('asking', ['TCP//80'])).kind).toBe('placement');
  });

  test('and evicting the other would help', () => {
    const result = answer(cluster(podWith('other', ['TCP//80'], 'n')), podWith('asking', ['TCP//80']));
    if (result.kind === 'placement') throw new Error('it fits');
    expect([...result.nodesWherePreemptionMayHelp()]).toEqual(['n']);
    expect(result.explain().nodes[0]!.findings).toMatchObject([{ rule: 'NodePorts', reason: 'PortsTaken' }]);
  });
});

describe('a pod that waits for a port is woken', () => {
  const waiting = podWith('asking', ['TCP//80']);
  const here = [podWith('http', ['TCP/10.0.0.1/80'], 'n'), podWith('other', ['TCP//81'], 'n')];
  test.each<[string, (index: ClusterIndex) => ReturnType<ClusterIndex['remove']>, boolean]>([
    ['when the pod that has it goes', (index) => index.remove('Pod', 'default/http'), true],
    [
      'when the pod that has it finishes',
      (index) => index.upsert('Pod', { ...here[0]!, status: { phase: 'Succeeded' } }),
      true,
    ],
    [
      'not when the pod that has it changes in other ways',
      (index) => index.upsert('Pod', { ...here[0]!, status: { phase: 'Running' } }),
      false,
    ],
    ['not when a pod with another port goes', (index) => index.remove('Pod', 'default/other'), false],
    ['when a node comes', (index) => index.upsert('Node', { metadata: { name: 'm' } }), true],
    [
      'not when a node changes',
      (index) => index.upsert('Node', { metadata: { name: 'n', labels: { a: 'b' } } }),
      false,
    ],
    [
      'when the pod is replaced by one without it',
      (index) => index.upsert('Pod', podWith('http', [], 'n')),
      true,
    ],
  ])('%s', (_name, happens, isWoken) => {
    const index = cluster(...here);
    const refusal = answer(index, waiting);
    if (refusal.kind === 'placement') throw new Error('it fits from the start');
    expect(refusal.wokenBy(happens(index).change!)).toBe(isWoken);
    expect(answer(index, waiting).kind).toBe(isWoken ? 'placement' : 'refusal');
  });
});
