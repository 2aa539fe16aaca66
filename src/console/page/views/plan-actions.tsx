import { useState } from 'preact/hooks';
import type { PlanReport } from '../../../queries/plan/plan-report.ts';
import type { ConsoleAction } from '../../wire/plan.ts';
import { useStore } from '../context.ts';
import { pluralText } from '../format.ts';
import type { PlanChange } from './plan-changes.ts';

interface OfferedStep {
  readonly title: string;
  readonly actions: readonly ConsoleAction[];
  /** The title of a step that has to be done before. */
  readonly after?: string;
  /** What takes it back, if something can. */
  readonly undo?: { readonly title: string; readonly action: ConsoleAction };
}

/** Only with `--console-write`, and only below the plan. Each step is carried out by its own button, and says what became of it. */
export function PlanActions({
  plan,
  changes,
}: {
  readonly plan: PlanReport;
  readonly changes: readonly PlanChange[];
}) {
  const { about } = useStore();
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const steps = changes.flatMap((change) => stepsOf(change, plan));
  if (about?.canWrite !== true || steps.length === 0) return null;
  return (
    <>
      <h3>Carry out</h3>
      <p>Nothing has been done yet. Each button changes the cluster at once, with your rights.</p>
      <ol class="steps" aria-label="Steps">
        {steps.map((step) => (
          <Step
            step={step}
            key={step.title}
            isDone={done.has(step.title)}
            isReady={step.after === undefined || done.has(step.after)}
            onDone={(isDone) => setDone((before) => withOrWithout(before, step.title, isDone))}
          />
        ))}
      </ol>
    </>
  );
}

function withOrWithout(set: ReadonlySet<string>, title: string, isIn: boolean): ReadonlySet<string> {
  return new Set(isIn ? [...set, title] : [...set].filter((each) => each !== title));
}

function Step(props: {
  readonly step: OfferedStep;
  readonly isDone: boolean;
  readonly isReady: boolean;
  readonly onDone: (isDone: boolean) => void;
}) {
  const { isDone, isReady, onDone } = props;
  const { title, actions, undo } = props.step;
  const [state, setState] = useState('');
  const [isBusy, setBusy] = useState(false);
  const run = async (all: readonly ConsoleAction[], isUndo: boolean) => {
    setBusy(true);
    let problem: string | undefined;
    for (const [at, action] of all.entries()) {
      if (all.length > 1) setState(`${at} of ${all.length} done`);
      problem = await applyPlan(action);
      if (problem !== undefined) break;
    }
    setState(problem ?? (isUndo ? 'taken back' : 'done'));
    if (problem === undefined) onDone(!isUndo);
    setBusy(false);
  };
  return (
    <li>
      <button type="button" disabled={isBusy || isDone || !isReady} onClick={() => void run(actions, false)}>
        {title}
      </button>{' '}
      {isDone && undo !== undefined && (
        <button type="button" disabled={isBusy} onClick={() => void run([undo.action], true)}>
          {undo.title}
        </button>
      )}{' '}
      <span role="status">{state}</span>
    </li>
  );
}

/** Undefined if it was done; otherwise what is wrong. */
async function applyPlan(action: ConsoleAction): Promise<string | undefined> {
  try {
    const response = await fetch('/console/data/act', { method: 'POST', body: JSON.stringify(action) });
    if (response.ok) return undefined;
    const { message } = (await response.json()) as { readonly message?: string };
    return message ?? `the server answered ${response.status}`;
  } catch {
    return 'the server does not answer; it is not known whether this was done';
  }
}

/** A drain keeps new pods away first, and then evicts those that the plan moves; what cannot move stays. */
function stepsOf({ flag, value }: PlanChange, plan: PlanReport): readonly OfferedStep[] {
  if (flag === 'drain') return drainSteps(value, plan);
  const scaled = /^(sts|statefulsets?|deploy|deployments?)\/(?:([^/=]+)\/)?([^/=]+)=(\d+)$/i.exec(value);
  if (flag !== 'replicas' || scaled === null) return [];
  const [, workload = '', namespace = 'default', name = '', count = ''] = scaled;
  const what = /^s/i.test(workload) ? 'StatefulSet' : 'Deployment';
  const action = { kind: 'scale', what, namespace, name, replicas: Number(count) } as const;
  return [{ title: `Scale ${what} ${namespace}/${name} to ${count}`, actions: [action] }];
}

function drainSteps(value: string, plan: PlanReport): readonly OfferedStep[] {
  const [, kind = '', name = ''] = /^(nodes?|no|drives?)\/(.+)$/i.exec(value) ?? [];
  if (name === '') return [];
  const what = /^n/i.test(kind) ? 'node' : 'drive';
  const cordon = (isOn: boolean) => ({ kind: 'cordon', what, name, isOn }) as const;
  const first: OfferedStep = {
    title: `Cordon ${what} ${name}`,
    actions: [cordon(true)],
    undo: { title: `Uncordon ${what} ${name}`, action: cordon(false) },
  };
  const moving = what === 'node' ? plan.moves.filter(({ from }) => from === name) : [];
  if (moving.length === 0) return [first];
  const evictions = moving.map(({ pod }): ConsoleAction => {
    const [namespace = '', podName = ''] = pod.split('/');
    return { kind: 'evict', namespace, name: podName, node: name };
  });
  const title = `Evict ${pluralText(moving.length, 'pod')} of node ${name}`;
  // Otherwise they could come back to the node.
  return [first, { title, actions: evictions, after: first.title }];
}
