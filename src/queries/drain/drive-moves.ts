import { readDrive } from '../../engine/drives/drive-record.ts';
import type { WhatIfChange } from '../../engine/what-if/change.ts';
import { type Drive, drives, drivesDriver } from '../../kube/stowage/drive.ts';
import { type MakePlanOptions, makePlan } from '../plan/make-plan.ts';
import type { PlanReport, VolumeCopyLine } from '../plan/plan-report.ts';
import type { ClusterView } from '../view/cluster-view.ts';
import { moveMarkOf } from './move-mark.ts';

/** Volumes that go from one drive to another. */
export interface CopyJob {
  readonly source: string;
  readonly target: string;
  readonly volumes: readonly string[];
}

/**
 * One job for each target. A copy that was interrupted is done again even if all entries have moved: data may be left on the source, and only the state of
 * the source shows it.
 */
export function copyJobs(
  source: Drive,
  targets: readonly Drive[],
  copies: readonly VolumeCopyLine[],
): readonly CopyJob[] {
  const name = source.metadata?.name ?? '';
  return targets.flatMap((target) => {
    const own = `drive/${target.metadata?.name}`;
    const known = new Set([source, target].flatMap(({ spec }) => spec?.volumes ?? []).map((one) => one.name));
    const mark = moveMarkOf(target);
    const isInterrupted = mark?.from === name && source.status?.state === 'Repairing';
    const again = isInterrupted ? mark.volumes.filter((volume) => known.has(volume)) : [];
    const coming = copies.flatMap(({ volume, to }) => (to === own ? [volume] : []));
    const volumes = [...new Set([...coming, ...again])];
    return volumes.length === 0 ? [] : [{ source: name, target: target.metadata?.name ?? '', volumes }];
  });
}

export interface DriveMoves {
  /** Each volume of the drive, with the drive that it goes to. */
  readonly copies: readonly VolumeCopyLine[];
  readonly plan: PlanReport;
}

/**
 * Where the volumes of a drive go: those that an earlier call has decided about to the same drive again, and the others where the engine places them when
 * these are there.
 */
export function driveMoves(view: ClusterView, name: string, options: MakePlanOptions): DriveMoves {
  const source = view.snapshot.get('Drive', name);
  const targets = [...view.snapshot.values('Drive')].filter((drive) => moveMarkOf(drive)?.from === name);
  const decided = source === undefined ? [] : targets.flatMap((target) => decidedCopies(source, target));
  const apply: readonly WhatIfChange[] =
    source === undefined || targets.length === 0
      ? []
      : [
          {
            kind: 'apply',
            objects: asIfMoved(source, targets, new Set(decided.map(({ volume }) => volume))),
          },
        ];
  const plan = makePlan(view, [...apply, { kind: 'drain-drive', drive: name }], options);
  const from = `drive/${name}`;
  return { plan, copies: [...decided, ...plan.copies.filter((copy) => copy.from === from)] };
}

function decidedCopies(source: Drive, target: Drive): readonly VolumeCopyLine[] {
  const wanted = new Set(moveMarkOf(target)?.volumes);
  return readDrive(source)
    .volumes.filter(({ name, podRef }) => wanted.has(name) && podRef === undefined)
    .map(({ name, sizeBytes, claimRef }) => ({
      volume: name,
      claim: claimRef === undefined ? '' : `${claimRef.namespace}/${claimRef.name}`,
      driver: drivesDriver,
      bytes: sizeBytes,
      pod: undefined,
      from: `drive/${source.metadata?.name}`,
      to: `drive/${target.metadata?.name}`,
    }));
}

/** The drives with the volumes where they go, and the targets open: only the move has closed them. */
function asIfMoved(source: Drive, targets: readonly Drive[], moved: ReadonlySet<string>): readonly Drive[] {
  const { kind } = drives;
  const all = source.spec?.volumes ?? [];
  const left = all.filter(({ name }) => !moved.has(name));
  return [
    { ...source, kind, spec: { ...source.spec, volumes: left } },
    ...targets.map((target) => {
      const wanted = new Set(moveMarkOf(target)?.volumes);
      const own = target.spec?.volumes ?? [];
      const there = new Set(own.map(({ name }) => name));
      const coming = all.filter(({ name }) => wanted.has(name) && !there.has(name));
      return {
        ...target,
        kind,
        spec: { ...target.spec, unschedulable: false, volumes: [...own, ...coming] },
      };
    }),
  ];
}
