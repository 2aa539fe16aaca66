import type { Container, ContainerPort, PodSpec, Volume } from '../../../../../kube/api/stored/core.ts';
import { checkRequiredEnum } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import { dnsLabelProblems, portNameProblems, portNumberProblems } from '../../../../validation/names.ts';
import type { AnyContainer } from '../containers.ts';
import { checkEnv, checkEnvFrom } from './env.ts';
import { checkDevices, checkVolumeMounts } from './mounts.ts';
import { checkContainerResources } from './resources.ts';
import { checkContainerSecurity } from './security.ts';

/** Properties of the pod that the rules of its containers need. */
export interface ContainerContext {
  readonly spec: PodSpec;
  /** The volumes without errors. */
  readonly volumes: ReadonlyMap<string, Volume>;
  /** The names in the pod's resourceClaims. */
  readonly claimNames: ReadonlySet<string>;
}

/** Rules for containers, init containers and ephemeral containers. */
export function checkContainer(
  errors: FieldErrors,
  at: string,
  container: AnyContainer,
  { spec, volumes, claimNames }: ContainerContext,
): void {
  if (container.name === '') errors.required(`${at}.name`);
  else errors.invalidFor(`${at}.name`, container.name, dnsLabelProblems(container.name));
  if (!container.image) errors.required(`${at}.image`);
  const { terminationMessagePolicy } = container;
  checkRequiredEnum(errors, `${at}.terminationMessagePolicy`, terminationMessagePolicy, messagePolicies);
  checkPorts(errors, `${at}.ports`, container.ports ?? []);
  checkEnv(errors, `${at}.env`, container.env ?? []);
  checkEnvFrom(errors, `${at}.envFrom`, container.envFrom ?? []);
  checkVolumeMounts(errors, `${at}.volumeMounts`, container, volumes);
  checkDevices(errors, `${at}.volumeDevices`, container, volumes);
  checkPullPolicy(errors, `${at}.imagePullPolicy`, container.imagePullPolicy);
  checkContainerResources(errors, `${at}.resources`, container.resources, claimNames);
  checkResizePolicies(errors, `${at}.resizePolicy`, container, spec.restartPolicy);
  const isHostUser = spec.hostUsers !== false;
  checkContainerSecurity(errors, `${at}.securityContext`, container.securityContext, isHostUser);
}

/** Also for image volumes. */
export function checkPullPolicy(errors: FieldErrors, field: string, policy: string | undefined): void {
  checkRequiredEnum(errors, field, policy, ['Always', 'IfNotPresent', 'Never']);
}

/** No host port may be used twice. Init containers run one after the other, so each is checked by itself. */
export function checkHostPortConflicts(
  errors: FieldErrors,
  field: string,
  containers: readonly Container[],
): void {
  const taken = new Set<string>();
  containers.forEach(({ ports }, index) => {
    ports?.forEach(({ hostPort = 0, hostIP = '', protocol = '' }, portIndex) => {
      if (hostPort === 0) return;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(key)) errors.duplicate(`${field}[${index}].ports[${portIndex}].hostPort`, key);
      taken.add(key);
    });
  });
}

const messagePolicies = ['File', 'FallbackToLogsOnError'];

function checkPorts(errors: FieldErrors, field: string, ports: readonly ContainerPort[]): void {
  const names = new Set<string>();
  ports.forEach((port, index) => {
    const at = `${field}[${index}]`;
    const { name = '', containerPort, hostPort = 0 } = port;
    if (name !== '') checkPortName(errors, `${at}.name`, name, names);
    if (containerPort === 0) errors.required(`${at}.containerPort`);
    else errors.invalidFor(`${at}.containerPort`, containerPort, portNumberProblems(containerPort));
    if (hostPort !== 0) errors.invalidFor(`${at}.hostPort`, hostPort, portNumberProblems(hostPort));
    checkRequiredEnum(errors, `${at}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP']);
  });
}

function checkPortName(errors: FieldErrors, field: string, name: string, names: Set<string>): void {
  const problems = portNameProblems(name);
  if (problems.length > 0) errors.invalidFor(field, name, problems);
  else if (names.has(name)) errors.duplicate(field, name);
  else names.add(name);
}

function checkResizePolicies(
  errors: FieldErrors,
  field: string,
  container: AnyContainer,
  podRestartPolicy: string | undefined,
): void {
  const seen = new Set<string>();
  container.resizePolicy?.forEach(({ resourceName, restartPolicy }, index) => {
    if (seen.has(resourceName)) errors.duplicate(`${field}[${index}]`, resourceName);
    seen.add(resourceName);
    checkRequiredEnum(errors, field, resourceName, ['cpu', 'memory']);
    checkRequiredEnum(errors, field, restartPolicy, ['NotRequired', 'RestartContainer']);
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      const detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
      errors.invalid(field, restartPolicy, detail);
    }
  });
}
