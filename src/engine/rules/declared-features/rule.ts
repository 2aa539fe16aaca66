/** Some pods need features of the kubelet. A node must declare them in its status. */
import type { ClusterChange, ObjectChange } from '../../cluster-index/cluster-change.ts';
import { nonNullItems } from '../../records/field-readers.ts';
import type { NodeRecord } from '../../records/node-record.ts';
import { memoByShape, type ShapeSpec } from '../../records/pod-shape/pod-shape.ts';
import type { Cycle } from '../framework/cycle.ts';
import type { Finding } from '../framework/finding.ts';
import { plainFinding } from '../framework/plain-finding.ts';
import { type Interest, type Prepared, type Rule, skip } from '../framework/rule.ts';
import { isOwnSpecChange } from '../wake-conditions/own-spec.ts';

/** The features that the pod needs, by name. */
type Features = readonly string[];

const notDeclaredBit = 1;

export const declaredFeaturesRule: Rule<Features> = {
  name: 'NodeDeclaredFeatures',
  reasons: ['FeatureNotDeclared'],
  prepare,
  filter,
  explain: (features, { index }, node): readonly Finding[] =>
    declares(index.nodes.record(node)!, features)
      ? []
      : [plainFinding(declaredFeaturesRule.name, 'FeatureNotDeclared')],
  wakes,
  invalidates: (interest, change) =>
    isOwnSpecChange(interest, change) || (change.kind === 'Node' && verdictDiffers(interest, change)),
};

/** All features that Kubernetes 1.36 infers when it schedules a pod; its other declared features concern updates. */
const featuresNeeded = memoByShape(
  (spec): Features => [
    ...(restartsAllContainers(spec) ? ['RestartAllContainersOnContainerExits'] : []),
    ...(spec.hostNetwork === true && spec.hostUsers === false ? ['UserNamespacesHostNetworkSupport'] : []),
  ],
);

function restartsAllContainers({ containers, initContainers }: ShapeSpec): boolean {
  return [...containers, ...initContainers].some(({ restartPolicyRules }) =>
    nonNullItems(restartPolicyRules).some(({ action }) => action === 'RestartAllContainers'),
  );
}

function prepare({ pod }: Cycle): Prepared<Features> {
  const features = featuresNeeded(pod.shape);
  return features.length === 0 ? skip : { kind: 'ready', state: features };
}

function filter(features: Features, cycle: Cycle): void {
  const { rows: nodes, count } = cycle.feasibleRows();
  for (let position = 0; position < count; position++) {
    const node = nodes[position]!;
    if (!declares(cycle.index.nodes.record(node)!, features)) cycle.reject(node, notDeclaredBit);
  }
}

function declares({ declaredFeatures }: NodeRecord, features: Features): boolean {
  return features.every((feature) => declaredFeatures.includes(feature));
}

function wakes(interest: Interest, change: ClusterChange): boolean {
  if (isOwnSpecChange(interest, change)) return true;
  if (change.kind !== 'Node' || change.after === undefined) return false;
  const features = featuresNeeded(interest.pod.shape);
  return (
    declares(change.after, features) && (change.before === undefined || !declares(change.before, features))
  );
}

function verdictDiffers({ pod }: Interest, { before, after }: ObjectChange<'Node'>): boolean {
  if (before === undefined || after === undefined) return true;
  const features = featuresNeeded(pod.shape);
  return declares(before, features) !== declares(after, features);
}
