import { labels } from '../../../kube/well-known.ts';
import type { SchedulerFixture } from './scheduler-fixture.ts';

/** A pod with volumes that fits only one node, so that every run ends in the same state. */
export interface BindingCase {
  readonly name: string;
  /** The scheduler's writes without faults, if the PV controller completes the bindings. */
  readonly writes: readonly string[];
  /** How many claims the scheduler may complete otherwise, if it is faster than the PV controller. */
  readonly volumes: number;
  readonly prepare: (fixture: SchedulerFixture) => Promise<void>;
}

const selects = 'patch persistentvolumeclaims';
const claims = 'patch persistentvolumes';
const binds = 'post pods';

export const bindingCases: readonly BindingCase[] = [
  {
    name: 'one existing volume',
    writes: [claims, binds],
    volumes: 1,
    prepare: withVolumes({ existing: 1, provisioned: 0 }),
  },
  {
    name: 'two existing volumes',
    writes: [claims, claims, binds],
    volumes: 2,
    prepare: withVolumes({ existing: 2, provisioned: 0 }),
  },
  {
    name: 'a new volume',
    writes: [selects, binds],
    volumes: 1,
    prepare: withVolumes({ existing: 0, provisioned: 1 }),
  },
  {
    name: 'two new volumes and two existing ones',
    writes: [selects, selects, claims, claims, binds],
    volumes: 4,
    prepare: withVolumes({ existing: 2, provisioned: 2 }),
  },
];

/** Creates the pod `web`, which fits only node n2. */
function withVolumes({ existing, provisioned }: { readonly existing: number; readonly provisioned: number }) {
  return async (fixture: SchedulerFixture) => {
    for (let at = 1; at <= existing; at += 1) {
      await fixture.disk(`d${at}`, `${at}Gi`, 'n2');
      await fixture.claim(`existing${at}`, `${at}Gi`);
    }
    for (let at = 1; at <= provisioned; at += 1)
      await fixture.claim(`provisioned${at}`, `${at}Gi`, { storageClassName: 'provisioned' });
    const names = [...numbered('existing', existing), ...numbered('provisioned', provisioned)];
    await fixture.pod('web', names, { spec: { nodeSelector: { [labels.hostname]: 'n2' } } });
  };
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${name}${at + 1}`);
}
