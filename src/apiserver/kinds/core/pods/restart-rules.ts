import type { Container, ContainerRestartRule, PodSpec } from '../../../../kube/api/stored/core.ts';

/** Whether a container that exited with this code restarts, by its rules, its policy and the pod's policy. */
export function couldRestart(container: Container, spec: PodSpec, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  if (restartPolicy !== undefined && rules.some((rule) => matches(rule, exitCode))) return true;
  switch (restartPolicy ?? spec.restartPolicy) {
    case 'Never':
      return false;
    case 'OnFailure':
      return exitCode !== 0;
    default:
      return true;
  }
}

/** Whether a rule of one container can restart all containers. */
export function couldAllRestart(spec: PodSpec): boolean {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])];
  return containers.some(({ restartPolicyRules: rules }) =>
    rules?.some(({ action }) => action === 'RestartAllContainers'),
  );
}

function matches({ exitCodes }: ContainerRestartRule, exitCode: number): boolean {
  if (!exitCodes) return false;
  const isListed = exitCodes.values?.includes(exitCode) ?? false;
  return exitCodes.operator === 'In' ? isListed : exitCodes.operator === 'NotIn' && !isListed;
}
