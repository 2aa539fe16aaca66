import { bytesText, coresText, isCountedInBytes, resourceText } from '../../kube/quantities/amount-text.ts';
import { capitalized } from '../../kube/quantities/count-text.ts';
import { drivesDriver } from '../../kube/stowage/drive.ts';
import { unreachable } from '../../runtime/assert.ts';
import { truncatedList } from '../explain/truncated-list.ts';
import { isKubernetesTaint } from './node-facts.ts';
import type { Remedy } from './remedy-collection.ts';
import { type RemedyStep, requiredNodeAffinity } from './remedy-step.ts';

/** The step as a sentence. Amounts are rounded so that following the text is enough. */
export function remedyText(remedy: Remedy): string {
  return `${changesText(remedy)}; the pod then fits on ${remedy.node}.`;
}

/** The changes alone, without the result. */
export function changesText({ node, steps }: Remedy): string {
  const [first = '', ...others] = steps.map((step) => stepText(step, node));
  return [capitalized(first), ...others].join(', and ');
}

export function stepText(step: RemedyStep, node: string): string {
  const { action, object, amount, names, scope } = step;
  const from = step.from ?? 0;
  const to = step.to ?? 0;
  switch (action) {
    case 'CreateVolume':
      return createVolumeText(step, node);
    case 'AddDrive':
      return addDriveText(step);
    case 'StartNodeService':
      return `start the node service on node ${object.name}, which has not reported drive ${names[0]} (stowage csi --services node --node-name ${object.name}; the drive must have ${bytesText(to, 'up')} free)`;
    case 'CreateNode':
      return createNodeText(step);
    case 'UncordonNode':
      return `uncordon node ${object.name}`;
    case 'UncordonDrive':
      return `uncordon drive ${object.name}`;
    case 'RemoveTaint':
      return removeTaintText(step);
    case 'LabelNode':
      return labelNodeText(step);
    case 'GrowPool':
      return `grow ${poolText(step)} by ${wholeBytesText(amount)}, to ${bytesText(to, 'up')}`;
    case 'ClearClaimRef':
      return `clear the claimRef of PersistentVolume ${object.name}, whose claim is gone (the pod then gets the data that is left on it)`;
    case 'AllowTopology':
      return `add ${names.join(', ')} to the allowedTopologies of StorageClass ${object.name}`;
    case 'InstallDriver':
      return names.join() === drivesDriver
        ? `start the node service of ${drivesDriver} on node ${object.name} (stowage csi --services node --node-name ${object.name})`
        : `install ${plural('CSI driver', names)} ${names.join(', ')} on node ${object.name}`;
    case 'UnpinClaim':
      return `remove the annotation volume.kubernetes.io/selected-node (${names[0]}) from claim ${object.name}${remarksText(step)}`;
    case 'GrowNode':
      return growNodeText(step);
    case 'TolerateTaint':
      return `add ${plural('toleration', names)} for ${names.join(', ')} to the pod`;
    case 'DropNodeSelector':
      return dropNodeSelectorText(step);
    case 'ReduceRequests':
      return `lower the pod's ${scope} request from ${resourceText(scope, from, 'up')} to ${resourceText(scope, to, 'down')}`;
    case 'ShrinkClaim':
      return shrinkText(step);
    case 'RaiseMaxSkew':
      return `raise maxSkew of the topology spread constraint over ${scope} from ${from} to ${to}`;
    case 'DropAffinity':
      return "make the pod's required pod affinity a preference";
    case 'DropAntiAffinity':
      return "make the pod's required pod anti-affinity a preference";
    case 'RemovePods':
      return `remove ${plural('pod', names)} ${listed(names)}${remarksText(step)}`;
    case 'WaitForPods':
      return `wait until ${plural('pod', names)} ${listed(names)}, which ${names.length === 1 ? 'is' : 'are'} being deleted, ${names.length === 1 ? 'is' : 'are'} gone`;
    default:
      return unreachable(action);
  }
}

/** The remarks are what the class asks of a drive. */
function addDriveText({ object, amount, remarks = [] }: RemedyStep): string {
  const kind = remarks.map((remark) => `, ${remark}`).join('');
  return `add a drive of ${bytesText(amount, 'up')}${kind} to node ${object.name} (there, as root: stowage drives discover, then stowage drives init)`;
}

/** The remarks are resources of which no existing node has as much as the pod needs. */
function createNodeText({ names, remarks = [], from = 0, to = 0, count = 1 }: RemedyStep): string {
  const added = count === 1 ? `add a node like ${names[0]}` : `add ${count} nodes like ${names[0]}`;
  return remarks.length === 0
    ? `${added} (cpu ${coresText(from)}, memory ${bytesText(to)}${count === 1 ? '' : ' each'})`
    : `${added}, but with ${remarks.join(' and ')}`;
}

function dropNodeSelectorText({ names }: RemedyStep): string {
  const labels = names.filter((name) => name !== requiredNodeAffinity);
  const parts = [
    ...(labels.length === 0 ? [] : [`node selector ${labels.join(', ')}`]),
    ...(labels.length === names.length ? [] : [`the ${requiredNodeAffinity}`]),
  ];
  return `remove ${parts.join(' and ')} from the pod`;
}

function growNodeText({ object, scope, amount, from = 0 }: RemedyStep): string {
  if (scope === 'pods')
    return `raise maxPods of the kubelet on node ${object.name} by ${amount} (it is ${from})`;
  const more = isCountedInBytes(scope) ? `${wholeBytesText(amount)} of` : resourceText(scope, amount);
  return `add ${more} ${scope} to node ${object.name} (it has ${resourceText(scope, from, 'down')})`;
}

/** A small amount needs its unit: a bare number could mean anything. */
function wholeBytesText(bytes: number): string {
  return bytes < 1024 ? `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}` : bytesText(bytes, 'up');
}

function createVolumeText({ amount, names, remarks = [] }: RemedyStep, node: string): string {
  const what = [`${bytesText(amount, 'up')}${classText(names[0])}`, ...remarks].join(', ');
  return `create a PersistentVolume of ${what}${remarks.length > 0 || names[0] ? ',' : ''} that node ${node} can reach`;
}

/** Kubernetes adds these taints again as long as the node's condition lasts, so the condition is what has to be fixed. */
function removeTaintText({ names, object: { name } }: RemedyStep): string {
  const own = names.filter((taint) => isKubernetesTaint(taint));
  const others = names.filter((taint) => !isKubernetesTaint(taint));
  const removal = `remove ${plural('taint', others)} ${others.join(', ')} from node ${name}`;
  const recovery = `so that Kubernetes removes its ${plural('taint', own)} ${own.join(', ')}`;
  if (own.length === 0) return removal;
  return others.length === 0
    ? `fix the condition of node ${name}, ${recovery}`
    : `${removal} and fix its condition, ${recovery}`;
}

/** A label to remove ends in a dash in `names`, as for kubectl. */
function labelNodeText({ names, remarks = [], object: { name } }: RemedyStep): string {
  const added = names.filter((label) => label.includes('='));
  const removed = names.filter((label) => !label.includes('=')).map((label) => label.slice(0, -1));
  const instead = remarks.length === 0 ? '' : ` instead of ${remarks.join(', ')}`;
  const addition = `label node ${name} with ${added.join(', ')}${instead}`;
  const removal = `remove ${plural('label', removed)} ${removed.join(', ')}`;
  if (removed.length === 0) return addition;
  return added.length === 0 ? `${removal} from node ${name}` : `${addition} and ${removal} from it`;
}

function remarksText({ remarks = [] }: RemedyStep): string {
  return remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
}

function shrinkText({ object, from = 0, to = 0, names }: RemedyStep): string {
  const sizes = `from ${bytesText(from, 'up')} to ${bytesText(to, 'down')}`;
  return names.includes('ephemeral')
    ? `lower the storage request of the pod's volume template for claim ${object.name} ${sizes}`
    : `lower the storage request of claim ${object.name} ${sizes} (recreate the claim: a claim cannot shrink)`;
}

function poolText({ object: { kind, name } }: RemedyStep): string {
  return kind === 'CSIStorageCapacity' ? `the storage behind CSIStorageCapacity ${name}` : `pool ${name}`;
}

function classText(className: string | undefined): string {
  return className === undefined || className === '' ? ' without a class' : `, class ${className}`;
}

function plural(noun: string, names: readonly unknown[]): string {
  return names.length === 1 ? noun : `${noun}s`;
}

const namesShownMax = 6;

function listed(names: readonly string[]): string {
  return truncatedList(names.slice(0, namesShownMax), names.length);
}
