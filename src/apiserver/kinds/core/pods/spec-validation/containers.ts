import type {
  Container,
  ContainerRestartRule,
  EphemeralContainer,
} from '../../../../../kube/api/stored/core.ts';
import { checkSupported } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import type { AnyContainer } from '../containers.ts';
import { isSidecar } from '../pod-resources.ts';
import { type ContainerContext, checkContainer, checkHostPortConflicts } from './container.ts';
import { checkLifecycle, checkProbes } from './probes.ts';

export type { ContainerContext } from './container.ts';

export function checkContainers(errors: FieldErrors, field: string, context: ContainerContext): void {
  const containers = context.spec.containers ?? [];
  if (containers.length === 0) {
    errors.required(field);
    return;
  }
  const names = new Set<string>();
  containers.forEach((container, index) => {
    const at = `${field}[${index}]`;
    checkContainer(errors, at, container, context);
    if (names.has(container.name)) errors.duplicate(`${at}.name`, container.name);
    names.add(container.name);
    checkHooks(errors, at, container, context);
    checkRestartPolicy(errors, at, container);
  });
  checkHostPortConflicts(errors, field, containers);
}

export function checkInitContainers(errors: FieldErrors, field: string, context: ContainerContext): void {
  const names = new Set(context.spec.containers?.map(({ name }) => name));
  context.spec.initContainers?.forEach((container, index) => {
    const at = `${field}[${index}]`;
    checkContainer(errors, at, container, context);
    if (container.restartPolicy === undefined) checkNoRestartRules(errors, at, container);
    else checkRestartPolicy(errors, at, container);
    if (names.has(container.name)) errors.duplicate(`${at}.name`, container.name);
    else if (container.name !== '') names.add(container.name);
    checkHostPortConflicts(errors, field, [container]);
    if (isSidecar(container)) checkHooks(errors, at, container, context);
    else checkPlainInitContainer(errors, at, container);
  });
}

/** Ephemeral containers are added through a subresource; these rules keep stored pods valid. */
export function checkEphemeralContainers(
  errors: FieldErrors,
  field: string,
  context: ContainerContext,
): void {
  const { containers, initContainers, ephemeralContainers } = context.spec;
  const others = new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name }) => name));
  const names = new Set(others);
  ephemeralContainers?.forEach((container, index) => {
    const at = `${field}[${index}]`;
    checkContainer(errors, at, container, context);
    checkImageWhitespace(errors, at, container);
    if (names.has(container.name)) errors.duplicate(`${at}.name`, container.name);
    names.add(container.name);
    const target = container.targetContainerName ?? '';
    if (target !== '' && !others.has(target)) errors.notFound(`${at}.targetContainerName`, target);
    checkEphemeralFields(errors, at, container);
  });
}

/** For pods only: existing templates contain whitespace as placeholders that are replaced later. */
export function checkImageWhitespace(errors: FieldErrors, at: string, { image = '' }: AnyContainer): void {
  if (image !== image.trim()) {
    errors.invalid(`${at}.image`, image, 'must not have leading or trailing whitespace');
  }
}

function checkHooks(errors: FieldErrors, at: string, container: Container, { spec }: ContainerContext): void {
  checkLifecycle(errors, `${at}.lifecycle`, container.lifecycle, spec.terminationGracePeriodSeconds);
  checkProbes(errors, at, container);
}

/** Plain init containers run to completion, so they have no probes and no lifecycle hooks. */
function checkPlainInitContainer(errors: FieldErrors, at: string, container: Container): void {
  for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    if (container[field] === undefined) continue;
    errors.forbidden(`${at}.${field}`, 'may not be set for init containers without restartPolicy=Always');
  }
  container.resizePolicy?.forEach(({ restartPolicy }, index) => {
    if (restartPolicy !== 'RestartContainer') return;
    const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    errors.invalid(`${at}.resizePolicy[${index}].restartPolicy`, restartPolicy, detail);
  });
}

function checkRestartPolicy(errors: FieldErrors, at: string, container: Container): void {
  const { restartPolicy, restartPolicyRules: rules = [] } = container;
  if (restartPolicy === undefined) checkNoRestartRules(errors, at, container);
  else checkSupported(errors, `${at}.restartPolicy`, restartPolicy, ['Always', 'Never', 'OnFailure']);
  if (rules.length > restartRulesMax) {
    errors.tooMany(`${at}.restartPolicyRules`, rules.length, restartRulesMax);
  }
  rules.forEach((rule, index) => {
    checkRestartRule(errors, `${at}.restartPolicyRules[${index}]`, rule);
  });
}

function checkNoRestartRules(errors: FieldErrors, at: string, { restartPolicyRules }: Container): void {
  if (!restartPolicyRules?.length) return;
  errors.required(`${at}.restartPolicy`, 'must specify restartPolicy when restart rules are used');
}

const restartRulesMax = 20;
const exitCodesMax = 255;

function checkRestartRule(errors: FieldErrors, at: string, rule: ContainerRestartRule): void {
  const { action = '', exitCodes } = rule;
  checkSupported(errors, `${at}.action`, action, ['Restart', 'RestartAllContainers']);
  if (exitCodes === undefined) {
    errors.required(`${at}.exitCodes`, 'must be specified');
    return;
  }
  checkSupported(errors, `${at}.exitCodes.operator`, exitCodes.operator ?? '', ['In', 'NotIn']);
  const count = exitCodes.values?.length ?? 0;
  if (count > exitCodesMax) errors.tooMany(`${at}.exitCodes.values`, count, exitCodesMax);
}

function checkEphemeralFields(errors: FieldErrors, at: string, container: EphemeralContainer): void {
  const detail = 'cannot be set for an Ephemeral Container';
  for (const field of fieldsForbiddenInEphemeral) {
    if (isSet(container[field])) errors.forbidden(`${at}.${field}`, detail);
  }
  container.volumeMounts?.forEach(({ subPath, subPathExpr }, index) => {
    if (subPath) errors.forbidden(`${at}.volumeMounts[${index}].subPath`, detail);
    if (subPathExpr) errors.forbidden(`${at}.volumeMounts[${index}].subPathExpr`, detail);
  });
}

const fieldsForbiddenInEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined;
}
