import type { Scenario } from '../scenario.ts';
import { accessSamples, accessScenarios } from './access.ts';
import { accessRequestScenarios } from './access-requests.ts';
import { accessUserScenarios } from './access-users.ts';
import { appliedKind } from './applied-kinds.ts';
import { applyScenarios } from './apply.ts';
import { applyPartScenarios } from './apply-parts.ts';
import { budgetScenarios } from './budgets.ts';
import { claimScenarios } from './claims.ts';
import { configurationScenarios } from './configuration.ts';
import { customResourceScenarios } from './custom-resources.ts';
import { customRuleScenarios } from './custom-rules.ts';
import { customValueScenarios } from './custom-values.ts';
import { definitionScenarios } from './definitions.ts';
import { definitionLifecycleScenarios } from './definitions-lifecycle.ts';
import { definitionRuleScenarios } from './definitions-rules.ts';
import { definitionSchemaScenarios } from './definitions-schemas.ts';
import { deletionScenarios } from './deletion.ts';
import { documentScenarios } from './documents.ts';
import { eventAndLeaseScenarios } from './events-and-leases.ts';
import { lifecycle } from './lifecycle.ts';
import { listScenarios } from './lists.ts';
import { metadataScenarios } from './metadata.ts';
import { nodeScenarios } from './nodes.ts';
import { patchScenarios } from './patches.ts';
import { podScenarios } from './pods.ts';
import { requestScenarios } from './requests.ts';
import { coreSamples } from './samples-core.ts';
import { deviceSamples } from './samples-devices.ts';
import { otherSamples } from './samples-others.ts';
import { storageSamples } from './samples-storage.ts';
import { workloadSamples } from './samples-workloads.ts';
import { storageScenarios } from './storage.ts';
import { watchScenarios } from './watches.ts';
import { workloadScenarios } from './workloads.ts';

/** All scenarios by theme. Each theme has its own transcript. */
export const corpus: Readonly<Record<string, readonly Scenario[]>> = {
  'lifecycle-of-storage': storageSamples.map(lifecycle),
  'lifecycle-of-core': coreSamples.map(lifecycle),
  'lifecycle-of-workloads': workloadSamples.map(lifecycle),
  'lifecycle-of-others': otherSamples.map(lifecycle),
  'lifecycle-of-devices': deviceSamples.map(lifecycle),
  'applied-kinds': [
    ...storageSamples,
    ...coreSamples,
    ...workloadSamples,
    ...otherSamples,
    ...deviceSamples,
  ].map(appliedKind),
  apply: [...applyScenarios, ...applyPartScenarios],
  requests: requestScenarios,
  metadata: metadataScenarios,
  lists: listScenarios,
  watches: watchScenarios,
  patches: patchScenarios,
  deletion: deletionScenarios,
  pods: podScenarios,
  claims: claimScenarios,
  storage: storageScenarios,
  nodes: nodeScenarios,
  workloads: workloadScenarios,
  'events-and-leases': eventAndLeaseScenarios,
  budgets: budgetScenarios,
  configuration: configurationScenarios,
  documents: documentScenarios,
  access: [
    ...accessSamples.map(lifecycle),
    ...accessSamples.slice(0, 3).map(appliedKind),
    ...accessScenarios,
  ],
  'access-requests': accessRequestScenarios,
  'access-users': accessUserScenarios,
  definitions: [...definitionLifecycleScenarios, ...definitionScenarios],
  'definitions-schemas': definitionSchemaScenarios,
  'definitions-rules': definitionRuleScenarios,
  'custom-resources': customResourceScenarios,
  'custom-values': customValueScenarios,
  'custom-rules': customRuleScenarios,
};
