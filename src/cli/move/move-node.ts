import { makeDrainPlan } from '../../queries/drain/make-drain-plan.ts';
import { waitUntilEmpty } from '../disks/evict.ts';
import { setScheduling } from '../disks/scheduling-change.ts';
import { editDrive } from '../drives/edit-drive.ts';
import { cordonNode } from './edit-node.ts';
import { evictPods } from './evict-pods.ts';
import type { MoveContext, MoveOutcome } from './move-context.ts';

/**
 * Empties a node as far as Stowage can: cordons it, evicts its disks and waits until the controller `disks` has released all of them, then evicts the pods that
 * have another node to go to. Every step reads the stored state, so a later call continues where this one ended. It deletes only pods, by eviction.
 */
export async function moveNode(name: string, context: MoveContext): Promise<MoveOutcome> {
  const target = { kind: 'node', name } as const;
  // Fails before the first write if there is no such node.
  makeDrainPlan(target, await context.load());
  await cordon(name, context);
  const waiting = [...(await evictDisks(name, context))];
  const next = async () =>
    makeDrainPlan(target, await context.load()).steps.flatMap((step) =>
      step.action === 'evict-pods' ? step.pods : [],
    );
  waiting.push(...(await evictPods(context, { next, keepsSetsReady: true })));
  const { left } = makeDrainPlan(target, await context.load());
  return { left, waiting, commands: [] };
}

async function cordon(name: string, { cluster, load, onChange }: MoveContext): Promise<void> {
  if (await cordonNode(cluster, name)) onChange(`node/${name} cordoned`);
  const { view } = await load();
  for (const { metadata, spec } of view.snapshot.values('Drive')) {
    if (spec?.nodeName !== name) continue;
    const { isChanged } = await editDrive(cluster, metadata?.name ?? '', (drive) =>
      drive.spec?.unschedulable === true ? undefined : { spec: { unschedulable: true } },
    );
    if (isChanged) onChange(`drive/${metadata?.name} cordoned`);
  }
}

/** The controller `disks` makes the new replicas and copies, and releases the old ones when the new ones have the data. */
async function evictDisks(name: string, context: MoveContext): Promise<readonly string[]> {
  const { cluster, clock, deadlineMs, load, onChange, onProgress } = context;
  const node = (await load()).disks?.nodes.find(({ metadata }) => metadata?.name === name);
  if (node === undefined) return [];
  const target = { kind: 'node', node } as const;
  if (await setScheduling(cluster, target, { allowScheduling: false, evictionRequested: true }))
    onChange(`storagenode/${name} evicted`);
  const remaining = await waitUntilEmpty(cluster, target, {
    clock,
    timeoutMs: deadlineMs - clock.monotonicMs(),
    onProgress: ([first, ...others]) =>
      onProgress(`${others.length + 1} replicas and copies have not left: ${first?.name} ${first?.message}`),
  });
  if (remaining.length === 0) onChange(`storagenode/${name} is empty`);
  return remaining.map(
    ({ kind, name: entry, disk, message }) => `${kind} ${entry} on disk ${disk}: ${message}`,
  );
}
