import { capacityForms } from '../../controllers/capacity-settings.ts';
import type { CsiFlags } from '../flags/csi-flags.ts';
import { choice, type Field, isOn, list, record, secondsFrom, text, wholeFrom } from './fields.ts';

/** The field `csi`: what the flags of `run` for CSI drivers set. The name of a node differs from process to process, and stays a flag. */
export const csiField = record({
  addresses: list(text),
  timeoutSeconds: secondsFrom(0.001),
  strictTopology: isOn,
  immediateTopology: isOn,
  extraCreateMetadata: isOn,
  defaultFsType: text,
  nodeDeployment: isOn,
  capacity: record({
    form: choice(...capacityForms),
    pollIntervalSeconds: secondsFrom(1),
    forEphemeral: isOn,
    forImmediateBinding: isOn,
    topologyPrefix: text,
    ownerRefLevel: wholeFrom(-1, 10),
    threads: wholeFrom(1, 100),
  }),
});

type CsiField = typeof csiField extends Field<infer T> ? T : never;

/** The flags, and the file where no flag was given. */
export function csiFlagsWith(flags: CsiFlags, file: CsiField = {}): CsiFlags {
  const { capacity = {} } = file;
  const fromFile = {
    csiAddress: file.addresses,
    csiTimeout: textOf(file.timeoutSeconds),
    strictTopology: file.strictTopology,
    immediateTopology: file.immediateTopology,
    extraCreateMetadata: file.extraCreateMetadata,
    defaultFstype: file.defaultFsType,
    // False is the same as absent: only true has a meaning without a driver.
    nodeDeployment: file.nodeDeployment || undefined,
    capacityForm: capacity.form,
    capacityPollInterval:
      capacity.pollIntervalSeconds && `${Math.round(capacity.pollIntervalSeconds * 1000)}ms`,
    capacityForEphemeral: capacity.forEphemeral,
    capacityForImmediateBinding: capacity.forImmediateBinding,
    capacityTopologyPrefix: capacity.topologyPrefix,
    capacityOwnerrefLevel: textOf(capacity.ownerRefLevel),
    capacityThreads: textOf(capacity.threads),
  } satisfies Record<Exclude<keyof CsiFlags, 'nodeName'>, unknown>;
  const given = Object.fromEntries(Object.entries(fromFile).filter(([, value]) => value !== undefined));
  return { ...(given as CsiFlags), ...flags };
}

function textOf(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
