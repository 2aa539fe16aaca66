import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Node, Pod } from '../../../kube/api/core.ts';
import { clusterOf } from '../../testing/cluster.ts';
import { plan } from '../../testing/whole-engine.ts';
import { declaredFeaturesRule } from '../declared-features/rule.ts';
import { eraseState } from '../framework/rule.ts';
import { imageLocalityRule } from '../image-locality/rule.ts';
import { nodeAffinityRule } from '../node-affinity/rule.ts';
import { nodeNameRule } from '../node-name/rule.ts';
import { nodeUnschedulableRule } from '../node-unschedulable/rule.ts';
import { taintTolerationRule } from '../taint-toleration/rule.ts';
import { volumeRestrictionsRule } from '../volume-restrictions/rule.ts';
import { supportedFeaturesRule } from './rule.ts';

const rules = [
  eraseState(supportedFeaturesRule),
  eraseState(nodeUnschedulableRule),
  eraseState(nodeNameRule),
  eraseState(taintTolerationRule),
  eraseState(nodeAffinityRule),
  eraseState(volumeRestrictionsRule),
  eraseState(imageLocalityRule),
  eraseState(declaredFeaturesRule),
];

/** Any value, often one of nearly the right form. */
function nearly(depth: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const object = fc.record(depth, { requiredKeys: [] });
  return fc.oneof(fc.jsonValue(), object, fc.array(fc.oneof(object, fc.jsonValue()), { maxLength: 3 }));
}

const junk = fc.oneof(fc.jsonValue(), fc.constantFrom('In', 'metadata.name', 'n1', 'Exists', true, 1));
const requirement = nearly({ key: junk, operator: junk, values: junk });
const term = nearly({ matchExpressions: requirement, matchFields: requirement });
const taint = nearly({ key: junk, value: junk, effect: junk, operator: junk });
const container = nearly({
  image: junk,
  resources: nearly({ claims: junk }),
  restartPolicyRules: nearly({ action: junk }),
});

const podSpec = nearly({
  nodeName: junk,
  nodeSelector: nearly({ a: junk }),
  affinity: nearly({
    nodeAffinity: nearly({
      requiredDuringSchedulingIgnoredDuringExecution: nearly({ nodeSelectorTerms: term }),
      preferredDuringSchedulingIgnoredDuringExecution: nearly({ weight: junk, preference: term }),
    }),
  }),
  tolerations: taint,
  containers: container,
  initContainers: container,
  volumes: nearly({
    rbd: nearly({ monitors: junk }),
    gcePersistentDisk: junk,
    image: nearly({ reference: junk }),
  }),
  topologySpreadConstraints: nearly({ whenUnsatisfiable: junk }),
  resourceClaims: junk,
  schedulingGroup: junk,
});

const nodeSpec = nearly({ unschedulable: junk, taints: taint });
const nodeStatus = nearly({ images: nearly({ names: junk, sizeBytes: junk }), declaredFeatures: junk });

test('there is an answer for any malformed nodes and pods', () => {
  const answers = new Set<string>();
  fc.assert(
    fc.property(podSpec, podSpec, nodeSpec, nodeStatus, (spec, other, ofNode, status) => {
      const index = clusterOf({
        Node: [{ metadata: { name: 'n1' }, spec: ofNode, status } as Node, { metadata: { name: 'n2' } }],
        Pod: [{ metadata: { name: 'o', namespace: 'default' }, spec: other } as Pod],
      });
      const asking = { metadata: { name: 'p', namespace: 'default' }, spec } as Pod;
      const answer = plan(asking, index, { nowMs: 0, rules });
      answers.add(answer.kind);
      if (answer.kind === 'refusal') expect(answer.explain().pod).toBe('default/p');
      expect(index.remove('Node', 'n1').change).toBeDefined();
    }),
    { numRuns: 500 },
  );
  expect([...answers].sort()).toEqual(['placement', 'refusal']);
});
