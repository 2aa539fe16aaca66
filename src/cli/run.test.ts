import { expect, test } from 'vitest';
import { type RunFlags, run } from './run.ts';

const flags: RunFlags = { kubeconfig: '/nowhere/config' };

test.each<readonly [Partial<RunFlags>, string]>([
  [{}, 'the kubeconfig /nowhere/config does not exist; choose a kubeconfig with --kubeconfig'],
  [
    { controllers: 'schedular' },
    '--controllers: there is no controller "schedular"; use *, none or some of sched',
  ],
  [{ controllers: 'none' }, '--controllers: nothing would run; name at least one, such as scheduler'],
  [{ leaderElect: 'perhaps' }, '--leader-elect: "perhaps" is neither true nor false'],
  [{ schedulerName: ['a', ''] }, '--scheduler-name: give a name, such as stowage'],
  [{ logFormat: 'xml' }, '--log-format: "xml" is none of text, json'],
  [{ profile: 'downstream' }, '--profile: "downstream" is none of stowage, upstream'],
  [{ config: '/nowhere/stowage.yaml' }, '--config: cannot read /nowhere/stowage.yaml: ENOENT'],
  [{ logLevel: 'loud' }, '--log-level: "loud" is none of debug, info, warn, error'],
  [{ featureGates: 'Nothing=true' }, '--feature-gates: there is no gate "Nothing"'],
])('%j is refused', async (wrong, message) => {
  await expect(run({ ...flags, ...wrong })).rejects.toThrow(message);
});
