import type { PodSpec } from '../../../../../kube/api/stored/core.ts';
import { utf8Length } from '../../../../../kube/go/quote.ts';
import type { FieldErrors } from '../../../../validation/field-errors.ts';

/** Sysctls. Those of a host namespace that the pod uses cannot be set. */
export function checkSysctls(errors: FieldErrors, field: string, spec: PodSpec): void {
  const seen = new Set<string>();
  spec.securityContext?.sysctls?.forEach(({ name }, index) => {
    const at = `${field}[${index}].name`;
    if (name === '') errors.required(at);
    else if (utf8Length(name) > nameBytesMax || !sysctlName.test(name)) {
      const detail = `must have at most ${nameBytesMax} characters and match regex ${sysctlName.source.replaceAll('\\/', '/')}`;
      errors.invalid(at, name, detail);
    } else if (seen.has(name)) errors.duplicate(at, name);
    const namespace = namespaceOf(name);
    if (spec.hostNetwork && namespace === 'net') {
      errors.invalid(at, name, "may not be specified when 'hostNetwork' is true");
    } else if (spec.hostIPC && namespace === 'ipc') {
      errors.invalid(at, name, "may not be specified when 'hostIPC' is true");
    }
    seen.add(name);
  });
}

const nameBytesMax = 253;
const segment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlName = new RegExp(`^(${segment}[\\./])*${segment}$`);

const ipcSettings: ReadonlySet<string> = new Set([
  'kernel.sem',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
  'kernel.shm_rmid_forced',
  'kernel.shm',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  'kernel.msg',
]);

/** `net/ipv4/x.y` and `net.ipv4.x/y` are the same sysctl: the first separator decides. */
function namespaceOf(name: string): 'ipc' | 'net' | undefined {
  const firstSeparator = /[./]/.exec(name)?.[0];
  const dotted = firstSeparator === '/' ? swapSeparators(name) : name;
  if (ipcSettings.has(dotted) || dotted.startsWith('fs.mqueue.')) return 'ipc';
  return dotted.startsWith('net.') ? 'net' : undefined;
}

function swapSeparators(name: string): string {
  return name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
