import { expect, test } from 'vitest';
import { type RunFlags, run } from './run.ts';

const flags: RunFlags = { kubeconfig: '/nowhere/config' };

test.each<readonly [Partial<RunFlags>, string]>([
  [{}, 'the kubeconfig /nowhere/config does not exist; choose a kubeconfig with --kubeconfig'],
  [
    { controllers: 'schedular' },
    '--controllers: unknown controller "schedular"; must be *, none, or some of sched',
  ],
  [{ controllers: 'none' }, '--controllers: would run nothing; name at least one, such as scheduler'],
  [{ leaderElect: 'perhaps' }, '--leader-elect: "perhaps" must be true or false'],
  [{ schedulerName: ['a', ''] }, '--scheduler-name: give a name, such as stowage'],
  [{ logFormat: 'xml' }, '--log-format: "xml" must be one of text, json'],
  [{ profile: 'downstream' }, '--profile: "downstream" must be one of stowage, upstream'],
  [{ config: '/nowhere/stowage.yaml' }, '--config: cannot read /nowhere/stowage.yaml: ENOENT'],
  [{ logLevel: 'loud' }, '--log-level: "loud" must be one of debug, info, warn, error'],
  [{ featureGates: 'Nothing=true' }, '--feature-gates: there is no gate "Nothing"'],
])('%j is refused', async (wrong, message) => {
  await expect(run({ ...flags, ...wrong })).rejects.toThrow(message);
});
