import type { AppArmorProfile, PodSpec, SeccompProfile } from '../../../../kube/api/stored/core.ts';
import type { ObjectMeta } from '../../../../kube/api/stored/meta.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { goQuoted } from '../../../../kube/go/quote.ts';
import { parseInt64 } from '../../../../kube/selectors/int64.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { checkRelativePath } from '../../../validation/file-paths.ts';
import { eachContainer } from './containers.ts';

/** Marks a mirror pod: the API object of a static pod, which a kubelet runs from a local file. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

const deletionCost = 'controller.kubernetes.io/pod-deletion-cost';
const podSeccomp = 'seccomp.security.alpha.kubernetes.io/pod';
const containerSeccomp = 'container.seccomp.security.alpha.kubernetes.io/';
const containerAppArmor = 'container.apparmor.security.beta.kubernetes.io/';

/** A pod or a pod template. */
export interface PodLike {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
}

/** Validates annotations that Kubernetes interprets; most became fields later. */
export function checkPodAnnotations(errors: FieldErrors, field: string, { metadata, spec }: PodLike): void {
  const annotations = metadata?.annotations ?? {};
  const mirror = annotations[mirrorAnnotation];
  if (mirror !== undefined && !spec.nodeName) {
    const detail = 'must set spec.nodeName if mirror pod annotation is set';
    errors.invalid(`${field}[${mirrorAnnotation}]`, mirror, detail);
  }
  const cost = annotations[deletionCost];
  if (cost !== undefined && !isDeletionCost(cost)) {
    errors.invalid(`${field}[${deletionCost}]`, cost, 'must be a 32bit integer');
  }
  for (const [key, value] of Object.entries(annotations)) {
    if (key === podSeccomp || key.startsWith(containerSeccomp)) {
      checkSeccompText(errors, `${field}.${key}`, value);
    } else if (key.startsWith(containerAppArmor)) {
      checkAppArmorText(errors, `${field}[${key}]`, { spec, value, container: afterSlash(key) });
    }
  }
}

/** If a profile is set both by an annotation and by a field, they must match. */
export function checkProfileAnnotations(
  errors: FieldErrors,
  path: string,
  { metadata, spec }: PodLike,
): void {
  const annotations = metadata?.annotations ?? {};
  const context = spec.securityContext;
  const ofPod = annotations[podSeccomp];
  if (ofPod !== undefined && context?.seccompProfile) {
    const at = `${path}.securityContext.seccompProfile`;
    checkMatch(errors, at, ofPod, { profile: context.seccompProfile, name: 'seccomp' });
  }
  eachContainer(spec, path, ({ name, securityContext }, at) => {
    const text = annotations[`${containerSeccomp}${name}`];
    const profile = securityContext?.seccompProfile;
    if (text !== undefined && profile) {
      checkMatch(errors, `${at}.securityContext.seccompProfile`, text, { profile, name: 'seccomp' });
    }
  });
  if (spec.os?.name === 'windows') return;
  eachContainer(spec, path, ({ name, securityContext }, at) => {
    const text = annotations[`${containerAppArmor}${name}`];
    const profile = securityContext?.appArmorProfile ?? context?.appArmorProfile;
    if (text !== undefined && profile) {
      checkMatch(errors, `${at}.securityContext.appArmorProfile`, text, { profile, name: 'apparmor' });
    }
  });
}

/** Forbids adding, changing and removing the mirror pod annotation and the AppArmor annotations. */
export function checkAnnotationUpdate(
  errors: FieldErrors,
  field: string,
  meta: ObjectMeta,
  old: ObjectMeta,
): void {
  const now = meta.annotations ?? {};
  const before = old.annotations ?? {};
  for (const key of Object.keys(before)) {
    if (now[key] === before[key]) continue;
    const name = fixedAnnotation(key);
    if (name) errors.forbidden(`${field}[${key}]`, `may not remove or update ${name}`);
  }
  for (const key of Object.keys(now)) {
    if (before[key] !== undefined) continue;
    const name = fixedAnnotation(key);
    if (name) errors.forbidden(`${field}[${key}]`, `may not add ${name}`);
  }
}

/**
 * Copies AppArmor annotations to the fields, because kubelets read only the fields. Ignores annotations that are not
 * valid profiles.
 */
export function applyAppArmorAnnotations({ metadata, spec }: PodLike): void {
  const annotations = metadata.annotations ?? {};
  if (spec.os?.name === 'windows') return;
  eachContainer(spec, '', (container) => {
    const text = annotations[`${containerAppArmor}${container.name}`];
    if (text === undefined || container.securityContext?.appArmorProfile) return;
    const profile = appArmorProfileOf(text);
    if (!profile || isSemanticallyEqual(profile, spec.securityContext?.appArmorProfile)) return;
    container.securityContext = { ...container.securityContext, appArmorProfile: profile };
  });
}

function appArmorProfileOf(text: string): AppArmorProfile | undefined {
  if (text === 'unconfined') return { type: 'Unconfined' };
  if (text === 'runtime/default') return { type: 'RuntimeDefault' };
  const localhostProfile = text.startsWith('localhost/') ? afterSlash(text) : '';
  const isValid = localhostProfile !== '' && localhostProfile === localhostProfile.trim();
  return isValid ? { type: 'Localhost', localhostProfile } : undefined;
}

function fixedAnnotation(key: string): string | undefined {
  if (key.startsWith(containerAppArmor)) return 'AppArmor annotations';
  return key === mirrorAnnotation ? 'mirror pod annotation' : undefined;
}

function isDeletionCost(text: string): boolean {
  if (!/^(?:0|[1-9]\d*|-\d+)$/.test(text)) return false;
  const value = parseInt64(text);
  return value !== undefined && BigInt.asIntN(32, value) === value;
}

function checkSeccompText(errors: FieldErrors, field: string, text: string): void {
  if (text === 'runtime/default' || text === 'docker/default' || text === 'unconfined') return;
  if (text.startsWith('localhost/')) checkRelativePath(errors, field, afterSlash(text));
  else errors.invalid(field, text, 'must be a valid seccomp profile');
}

function checkAppArmorText(
  errors: FieldErrors,
  field: string,
  { spec, value, container }: { readonly spec: PodSpec; readonly value: string; readonly container: string },
): void {
  let isFound = false;
  eachContainer(spec, '', ({ name }) => {
    isFound ||= name === container;
  });
  if (!isFound) errors.invalid(field, container, 'container not found');
  if (['', 'runtime/default', 'unconfined'].includes(value) || value.startsWith('localhost/')) return;
  errors.invalid(field, value, `invalid AppArmor profile name: ${goQuoted(value)}`);
}

function checkMatch(
  errors: FieldErrors,
  at: string,
  text: string,
  { profile, name }: { readonly profile: SeccompProfile | AppArmorProfile; readonly name: string },
): void {
  const isType =
    (profile.type === 'Unconfined' && text === 'unconfined') ||
    (profile.type === 'RuntimeDefault' &&
      (text === 'runtime/default' || (name === 'seccomp' && text === 'docker/default'))) ||
    (profile.type === 'Localhost' && text.startsWith('localhost/'));
  const isKnown = ['Unconfined', 'RuntimeDefault', 'Localhost'].includes(profile.type);
  if (!isType) {
    if (isKnown) errors.forbidden(`${at}.type`, `${name} type in annotation and field must match`);
  } else if (profile.type === 'Localhost' && afterSlash(text) !== profile.localhostProfile) {
    errors.forbidden(`${at}.localhostProfile`, `${name} profile in annotation and field must match`);
  }
}

function afterSlash(text: string): string {
  return text.slice(text.indexOf('/') + 1);
}
