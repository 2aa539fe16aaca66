import type {
  Container,
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  Probe,
  ProbeHandler,
} from '../../../../../kube/api/stored/core.ts';
import type { Int64 } from '../../../../../kube/api/stored/meta.ts';
import { checkSupported } from '../../../../validation/enums.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';
import {
  httpHeaderNameProblems,
  portNameProblems,
  portNumberProblems,
} from '../../../../validation/names.ts';
import { checkNonNegative } from '../../../../validation/quantities.ts';

export function checkProbes(errors: FieldErrors, at: string, container: Container): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (livenessProbe) {
    checkProbe(errors, `${at}.livenessProbe`, livenessProbe);
    checkSucceedsAtOnce(errors, `${at}.livenessProbe`, livenessProbe);
  }
  if (readinessProbe) {
    checkProbe(errors, `${at}.readinessProbe`, readinessProbe);
    const graceSeconds = readinessProbe.terminationGracePeriodSeconds;
    if (graceSeconds !== undefined) {
      const field = `${at}.readinessProbe.terminationGracePeriodSeconds`;
      errors.invalid(field, graceSeconds, 'must not be set for readinessProbes');
    }
  }
  if (startupProbe) {
    checkProbe(errors, `${at}.startupProbe`, startupProbe);
    checkSucceedsAtOnce(errors, `${at}.startupProbe`, startupProbe);
  }
}

export function checkLifecycle(
  errors: FieldErrors,
  field: string,
  lifecycle: Lifecycle | undefined,
  graceSeconds: Int64 | undefined,
): void {
  for (const hook of ['postStart', 'preStop'] as const) {
    const handler = lifecycle?.[hook];
    if (handler) checkHandler(errors, `${field}.${hook}`, handler, graceSeconds);
  }
}

function checkProbe(errors: FieldErrors, field: string, probe: Probe): void {
  checkHandler(errors, field, probe, undefined);
  for (const name of counts) checkNonNegative(errors, `${field}.${name}`, probe[name] ?? 0);
  const graceSeconds = probe.terminationGracePeriodSeconds;
  if (graceSeconds !== undefined && graceSeconds <= 0) {
    errors.invalid(`${field}.terminationGracePeriodSeconds`, graceSeconds, 'must be greater than 0');
  }
}

const counts = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

function checkSucceedsAtOnce(errors: FieldErrors, field: string, { successThreshold = 0 }: Probe): void {
  if (successThreshold !== 1) errors.invalid(`${field}.successThreshold`, successThreshold, 'must be 1');
}

/** The action of a probe or a hook; exactly one must be set. */
type Handler = ProbeHandler & LifecycleHandler;

function checkHandler(
  errors: FieldErrors,
  field: string,
  handler: Handler,
  graceSeconds: Int64 | undefined,
): void {
  let hasOne = false;
  for (const type of ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const) {
    if (handler[type] === undefined) continue;
    if (hasOne) errors.forbidden(`${field}.${type}`, 'may not specify more than 1 handler type');
    else checkAction(errors, `${field}.${type}`, { [type]: handler[type] }, graceSeconds);
    hasOne = true;
  }
  if (!hasOne) errors.required(field, 'must specify a handler type');
}

function checkAction(
  errors: FieldErrors,
  field: string,
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  graceSeconds: Int64 | undefined,
): void {
  if (exec && !exec.command?.length) errors.required(`${field}.command`);
  if (httpGet) checkHttpGet(errors, field, httpGet);
  if (tcpSocket) checkPort(errors, `${field}.port`, tcpSocket.port);
  if (grpc) checkPort(errors, `${field}.port`, grpc.port);
  if (sleep && graceSeconds !== undefined && (sleep.seconds < 0 || sleep.seconds > graceSeconds)) {
    const detail = `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`;
    errors.invalid(field, sleep.seconds, detail);
  }
}

function checkHttpGet(errors: FieldErrors, field: string, action: HTTPGetAction): void {
  if (!action.path) errors.required(`${field}.path`);
  checkPort(errors, `${field}.port`, action.port);
  checkSupported(errors, `${field}.scheme`, action.scheme ?? '', ['HTTP', 'HTTPS']);
  for (const { name } of action.httpHeaders ?? []) {
    errors.invalidFor(`${field}.httpHeaders`, name, httpHeaderNameProblems(name));
  }
}

function checkPort(errors: FieldErrors, field: string, port: number | string): void {
  const problems = typeof port === 'number' ? portNumberProblems(port) : portNameProblems(port);
  errors.invalidFor(field, port, problems);
}
