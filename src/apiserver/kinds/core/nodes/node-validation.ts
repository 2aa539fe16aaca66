import type { Node, Taint } from '../../../../kube/api/stored/core.ts';
import { isSemanticallyEqual } from '../../../../kube/deep-equal.ts';
import { goQuoted } from '../../../../kube/go/quote.ts';
import { ipFamilyOf } from '../../../../kube/ip-address.ts';
import type { FieldErrors } from '../../../validation/field-errors.ts';
import { internalForm } from '../../../validation/internal-form.ts';
import { checkCidr, isCidr } from '../../../validation/ip-address.ts';
import { checkLabelKey } from '../../../validation/labels.ts';
import { labelValueProblems } from '../../../validation/names.ts';
import { notPositiveMessage } from '../../../validation/quantities.ts';
import { checkTaintEffect } from '../pods/spec-validation/placement.ts';
import type { MutableResourceList } from '../resources/resource-list.ts';
import { checkResourceQuantity } from '../resources/resource-quantity.ts';

export function validateNode({ spec, status }: Node, errors: FieldErrors): void {
  checkTaints(errors, spec.taints ?? []);
  checkResources(errors, status);
  const { capacity } = status.nodeInfo?.swap ?? {};
  if (capacity !== undefined && capacity <= 0) {
    errors.invalid('metadata.nodeSwapStatus.capacity', capacity, notPositiveMessage);
  }
  checkDeclaredFeatures(errors, status.declaredFeatures ?? []);
  checkPodCidrs(errors, spec.podCIDRs ?? []);
}

/** Also for updates of /status. A node keeps its pod CIDRs and its provider ID once it has them. */
export function validateNodeUpdate(node: Node, old: Node, errors: FieldErrors): void {
  checkResources(errors, node.status);
  checkDeclaredFeatures(errors, node.status.declaredFeatures ?? []);
  checkAddresses(errors, node);
  const cidrs = old.spec.podCIDRs ?? [];
  if (cidrs.length > 0 && !isSemanticallyEqual(cidrs, node.spec.podCIDRs)) {
    errors.forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid');
  }
  if (old.spec.providerID && old.spec.providerID !== node.spec.providerID) {
    errors.forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid');
  }
  checkTaints(errors, node.spec.taints ?? []);
  if ((node.spec.externalID ?? '') !== (old.spec.externalID ?? '')) {
    errors.forbidden('spec.externalID', 'may not be updated');
  }
}

/** Kubernetes reports taints under `metadata`, although they are in `spec`. */
function checkTaints(errors: FieldErrors, taints: readonly Taint[]): void {
  const seen = new Set<string>();
  taints.forEach((taint, index) => {
    const at = `metadata.taints[${index}]`;
    const { key, value = '', effect } = taint;
    checkLabelKey(errors, `${at}.key`, key);
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.invalid(`${at}.value`, value, problems.join(';'));
    checkTaintEffect(errors, `${at}.effect`, effect);
    if (seen.has(`${effect}/${key}`)) {
      errors.duplicate(at, shownTaint(taint), 'taints must be unique by key and effect pair');
    }
    seen.add(`${effect}/${key}`);
  });
}

function shownTaint(taint: Taint): object {
  return internalForm(taint, ['key', 'value', 'effect', 'timeAdded'], { value: '' });
}

function checkResources(errors: FieldErrors, { capacity, allocatable }: Node['status']): void {
  const checkList = (field: string, list: MutableResourceList = {}): void => {
    for (const [name, amount] of Object.entries(list)) {
      checkResourceQuantity(errors, `${field}.${name}`, name, amount);
    }
  };
  checkList('status.capacity', capacity);
  checkList('status.allocatable', allocatable);
}

function checkPodCidrs(errors: FieldErrors, cidrs: readonly string[]): void {
  const field = 'spec.podCIDRs';
  cidrs.forEach((cidr, index) => {
    checkCidr(errors, `${field}[${index}]`, cidr);
  });
  if (cidrs.length < 2) return;
  const bad = cidrs.findIndex((cidr) => !isCidr(cidr));
  if (bad >= 0) {
    const problem = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${cidrs[bad]})`;
    errors.internal(field, `invalid PodCIDRs. failed to check with dual stack with error:${problem}`);
  }
  const families = new Set(cidrs.map((cidr) => ipFamilyOf(cidr.split('/', 1)[0] ?? '')));
  if (bad >= 0 || cidrs.length > 2 || families.size < 2) {
    errors.invalid(field, cidrs, 'may specify no more than one CIDR for each IP family');
  }
}

function checkAddresses(errors: FieldErrors, { status }: Node): void {
  const seen = new Set<string>();
  status.addresses?.forEach(({ type, address }, index) => {
    const key = `${type}/${address}`;
    if (seen.has(key)) {
      errors.duplicate(`status.addresses[${index}]`, { Type: type, Address: address });
    }
    seen.add(key);
  });
}

const featureName = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const featureBytesMax = 253;

/** The features that the node's kubelet declares must be sorted. */
function checkDeclaredFeatures(errors: FieldErrors, features: readonly string[]): void {
  const field = 'status.declaredFeatures';
  features.forEach((feature, index) => {
    const problem = featureProblem(feature);
    if (problem !== undefined) {
      errors.invalid(`${field}[${index}]`, feature, `invalid feature name ${goQuoted(feature)}: ${problem}`);
    }
    const next = features[index + 1];
    if (next === feature) errors.duplicate(`${field}[${index + 1}]`, next);
    else if (next !== undefined && next < feature) {
      errors.invalid(`${field}[${index + 1}]`, next, 'list must be sorted alphabetically');
    }
  });
}

function featureProblem(feature: string): string | undefined {
  if (Buffer.byteLength(feature) > featureBytesMax)
    return `must be no more than ${featureBytesMax} characters`;
  if (featureName.test(feature)) return undefined;
  return "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";
}
