import fc from 'fast-check';
import { test } from 'vitest';
import type { Pod } from '../../../kube/api/core.ts';
import { ClusterIndex } from '../../cluster-index/cluster-index.ts';
import { readPod } from '../../records/pod-record.ts';
import { node, zone } from '../../testing/objects.ts';
import { interestOf, plan } from '../../testing/whole-engine.ts';
import { eraseState } from '../framework/rule.ts';
import { topologySpreadRule } from '../topology-spread/rule.ts';
import { interPodAffinityRule } from './rule.ts';

const rules = [eraseState(interPodAffinityRule), eraseState(topologySpreadRule)];

const word = fc.constantFrom(
  ...'podAffinity podAntiAffinity requiredDuringSchedulingIgnoredDuringExecution weight podAffinityTerm'.split(
    ' ',
  ),
  ...'preferredDuringSchedulingIgnoredDuringExecution labelSelector namespaceSelector namespaces'.split(' '),
  ...'topologyKey matchLabels matchExpressions key operator values whenUnsatisfiable maxSkew minDomains'.split(
    ' ',
  ),
  ...'matchLabelKeys nodeTaintsPolicy constructor __proto__'.split(' '),
);
const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, 0, -1, 1e300, 0.5, '', 'In', 'DoNotSchedule', 'ScheduleAnyway', 'Honor'),
  fc.constantFrom<unknown>(zone, 'constructor', '__proto__', [], {}),
);
const { junk } = fc.letrec<{ junk: unknown }>((tie) => ({
  junk: fc.oneof(
    { maxDepth: 6 },
    leaf,
    fc.array(tie('junk'), { maxLength: 3 }),
    fc.dictionary(word, tie('junk'), { maxKeys: 4 }),
  ),
}));

test('no malformed pod, on a node or planned, makes these rules throw', () => {
  const arbPod = fc
    .record({ affinity: junk, topologySpreadConstraints: junk, labels: junk, ownerReferences: junk })
    .map(({ labels, ownerReferences, ...spec }) => ({
      metadata: { namespace: 'default', name: 'p', labels, ownerReferences },
      spec,
    })) as unknown as fc.Arbitrary<Pod>;
  fc.assert(
    fc.property(arbPod, arbPod, (existing, asking) => {
      const index = new ClusterIndex();
      index.upsert('Node', node('n1', { [zone]: 'a' }));
      const there = { ...existing, metadata: { ...existing.metadata, name: 'q' } };
      index.upsert('Pod', { ...there, spec: { ...there.spec, nodeName: 'n1' } });
      const answer = plan(asking, index, { nowMs: 0, rules });
      const { change } = index.remove('Pod', 'default/q');
      if (answer.kind === 'refusal') answer.wokenBy(change!);
      const interest = interestOf(index, readPod(asking));
      for (const rule of rules) rule.invalidates(interest, change!, index);
    }),
    { numRuns: 500 },
  );
});
