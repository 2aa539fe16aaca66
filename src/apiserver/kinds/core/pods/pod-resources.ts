import type { Container, PodSpec } from '../../../../kube/api/stored/core.ts';
import { compareQuantities, formatQuantity } from '../../../../kube/quantities/quantity.ts';
import { compareQuantityTexts, quantityOf } from '../../../validation/quantities.ts';
import {
  type Amounts,
  addAmounts,
  type MutableResourceList,
  raiseAmounts,
} from '../resources/resource-list.ts';
import { isHugePages, isOvercommittable, isPodLevelResource } from '../resources/resource-names.ts';

export type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed';

/** The QoS class, from the pod-level resources if there are any, otherwise from those of the containers. */
export function qosClassOf(spec: PodSpec): QosClass {
  const parts = spec.resources ? [spec.resources] : allContainers(spec).map(({ resources }) => resources);
  const requests: Amounts = new Map();
  const limits: Amounts = new Map();
  let isGuaranteed = true;
  for (const part of parts) {
    addAmounts(requests, computeOnly(part?.requests));
    const limited = computeOnly(part?.limits);
    addAmounts(limits, limited);
    const hasLimits = !spec.resources || Object.keys(part?.limits ?? {}).length > 0;
    if (hasLimits && Object.keys(limited).length < computeResources.length) isGuaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  return isGuaranteed && equalAmounts(requests, limits) ? 'Guaranteed' : 'Burstable';
}

/**
 * The total of all containers: the maximum of what the running containers need together and what any init container
 * needs. Sidecars keep running after they started, so they count in both.
 */
export function containerTotals(spec: PodSpec, part: 'requests' | 'limits'): Amounts {
  const totals: Amounts = new Map();
  for (const { resources } of spec.containers ?? []) addAmounts(totals, resources?.[part]);
  const sidecars: Amounts = new Map();
  const steps: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const needs = container.resources?.[part];
    const step: Amounts = new Map(sidecars);
    addAmounts(step, needs);
    if (isSidecar(container)) {
      addAmounts(totals, needs);
      addAmounts(sidecars, needs);
    }
    raiseAmounts(steps, step);
  }
  raiseAmounts(totals, steps);
  return totals;
}

export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** For pods only: a request defaults to the limit. Templates are stored as written. */
export function defaultRequests(spec: PodSpec): void {
  for (const { resources } of allContainers(spec)) {
    if (resources?.limits) resources.requests = { ...resources.limits, ...resources.requests };
  }
  defaultPodLimits(spec);
  defaultPodRequests(spec);
}

const computeResources = ['cpu', 'memory'] as const;

function allContainers(spec: PodSpec): readonly Container[] {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
}

function computeOnly(list: MutableResourceList | undefined): MutableResourceList {
  const kept: MutableResourceList = {};
  for (const name of computeResources) {
    const text = list?.[name];
    if (text !== undefined && compareQuantityTexts(text, '0') > 0) kept[name] = text;
  }
  return kept;
}

function equalAmounts(a: Amounts, b: Amounts): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([name, amount]) => compareQuantities(amount, b.get(name) ?? quantityOf('0')) === 0);
}

/** Huge pages cannot be overcommitted: if containers have limits, the limit of the pod defaults to their sum. */
function defaultPodLimits({ resources, ...spec }: PodSpec): void {
  if (!resources || (!hasEntries(resources.limits) && !hasEntries(resources.requests))) return;
  const limits: MutableResourceList = { ...resources.limits };
  for (const [name, total] of containerTotals(spec, 'limits')) {
    if (!isHugePages(name) || resources.requests?.[name] !== undefined) continue;
    limits[name] ??= formatQuantity(total);
  }
  if (hasEntries(limits)) resources.limits = limits;
}

function defaultPodRequests({ resources, ...spec }: PodSpec): void {
  if (!resources?.limits || !hasEntries(resources.limits)) return;
  const requests: MutableResourceList = { ...resources.requests };
  for (const [name, total] of containerTotals(spec, 'requests')) {
    if (isPodLevelResource(name) && isOvercommittable(name)) requests[name] ??= formatQuantity(total);
  }
  for (const [name, limit] of Object.entries(resources.limits)) {
    if (isPodLevelResource(name)) requests[name] ??= limit;
  }
  if (hasEntries(requests)) resources.requests = requests;
}

function hasEntries(list: MutableResourceList | undefined): boolean {
  return list !== undefined && Object.keys(list).length > 0;
}
