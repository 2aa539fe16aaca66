import { unreachable } from '../../runtime/assert.ts';
import { truncatedList } from '../explain/truncated-list.ts';
import { bytesText, coresText, isCountedInBytes, resourceText } from './amount-text.ts';
import { isKubernetesTaint } from './node-facts.ts';
import type { Remedy } from './remedy-collection.ts';
import type { RemedyStep } from './remedy-step.ts';

/** What to do, in a sentence for people. Figures are rounded so that doing what it says is enough. */
export function remedyText({ node, steps }: Remedy): string {
  const [first = '', ...others] = steps.map((step) => stepText(step, node));
  const whole = [capital(first), ...others].join(', and ');
  return `${whole}; the pod then fits on ${node}.`;
}

export function stepText(step: RemedyStep, node: string): string {
  const { action, object, amount, names, scope } = step;
  const from = step.from ?? 0;
  const to = step.to ?? 0;
  switch (action) {
    case 'CreateVolume':
      return createVolumeText(step, node);
    case 'CreateNode':
      return `add a node like ${names[0]} (cpu ${coresText(from)}, memory ${bytesText(to)})`;
    case 'UncordonNode':
      return `uncordon node ${object.name}`;
    case 'RemoveTaint':
      return removeTaintText(step);
    case 'LabelNode':
      return labelNodeText(step);
    case 'GrowPool':
      return `grow ${poolText(step)} by ${wholeBytesText(amount)}, to ${bytesText(to, 'up')}`;
    case 'ClearClaimRef':
      return `clear the claimRef of PersistentVolume ${object.name}, whose claim is gone (the pod then gets what that has left on it)`;
    case 'AllowTopology':
      return `add ${names.join(', ')} to the allowedTopologies of StorageClass ${object.name}`;
    case 'InstallDriver':
      return `install ${plural('CSI driver', names)} ${names.join(', ')} on node ${object.name}`;
    case 'UnpinClaim':
      return `remove the annotation volume.kubernetes.io/selected-node (${names[0]}) from claim ${object.name}${remarksText(step)}`;
    case 'GrowNode':
      return growNodeText(step);
    case 'TolerateTaint':
      return `have the pod tolerate ${names.join(', ')}`;
    case 'DropNodeSelector':
      return `have the pod do without ${names.join(', ')}`;
    case 'ReduceRequests':
      return `have the pod ask for ${scope} ${resourceText(scope, to, 'down')} instead of ${resourceText(scope, from, 'up')}`;
    case 'ShrinkClaim':
      return shrinkText(step);
    case 'RaiseMaxSkew':
      return `raise maxSkew of the spread over ${scope} from ${from} to ${to}`;
    case 'DropAffinity':
      return 'have the pod prefer its pod affinity instead of requiring it';
    case 'DropAntiAffinity':
      return 'have the pod prefer its pod anti-affinity instead of requiring it';
    case 'RemovePods':
      return `remove ${plural('pod', names)} ${listed(names)}${remarksText(step)}`;
    case 'WaitForPods':
      return `wait until ${plural('pod', names)} ${listed(names)}, being deleted, ${names.length === 1 ? 'is' : 'are'} gone`;
    default:
      return unreachable(action);
  }
}

function growNodeText({ object, scope, amount, from = 0 }: RemedyStep): string {
  if (scope === 'pods')
    return `let node ${object.name} run ${amount} more ${amount === 1 ? 'pod' : 'pods'} (it may run ${from}; its kubelet's maxPods)`;
  const more = isCountedInBytes(scope) ? wholeBytesText(amount) : resourceText(scope, amount);
  return `give node ${object.name} ${more} more ${scope} (it has ${resourceText(scope, from, 'down')})`;
}

/** A bare number could be of anything. */
function wholeBytesText(bytes: number): string {
  return bytes < 1024 ? `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}` : bytesText(bytes, 'up');
}

function createVolumeText({ amount, names, remarks = [] }: RemedyStep, node: string): string {
  const what = [`${bytesText(amount, 'up')}${classText(names[0])}`, ...remarks].join(', ');
  return `create a PersistentVolume of ${what}${remarks.length > 0 || names[0] ? ',' : ''} that ${node} can reach`;
}

/** What Kubernetes puts on a node for its condition comes back until that is over. */
function removeTaintText({ names, object: { name } }: RemedyStep): string {
  const own = names.filter((taint) => isKubernetesTaint(taint));
  const others = names.filter((taint) => !isKubernetesTaint(taint));
  const removal = `remove ${plural('taint', others)} ${others.join(', ')} from node ${name}`;
  const recovery = `so that Kubernetes takes ${plural('taint', own)} ${own.join(', ')} off it`;
  if (own.length === 0) return removal;
  return others.length === 0
    ? `get node ${name} ready, ${recovery}`
    : `${removal} and get it ready, ${recovery}`;
}

/** As kubectl writes it, a label that goes has a dash at its end. */
function labelNodeText({ names, remarks = [], object: { name } }: RemedyStep): string {
  const put = names.filter((label) => label.includes('='));
  const gone = names.filter((label) => !label.includes('=')).map((label) => label.slice(0, -1));
  const instead = remarks.length === 0 ? '' : ` instead of ${remarks.join(', ')}`;
  const putting = `label node ${name} with ${put.join(', ')}${instead}`;
  const taking = `${plural('label', gone)} ${gone.join(', ')}`;
  if (gone.length === 0) return putting;
  return put.length === 0 ? `take ${taking} off node ${name}` : `${putting} and take ${taking} off it`;
}

function remarksText({ remarks = [] }: RemedyStep): string {
  return remarks.length === 0 ? '' : ` (${remarks.join('; ')})`;
}

function shrinkText({ object, from = 0, to = 0, names }: RemedyStep): string {
  const sizes = `${bytesText(to, 'down')} instead of ${bytesText(from, 'up')}`;
  return names.includes('ephemeral')
    ? `have the pod's volume template behind claim ${object.name} ask for ${sizes}`
    : `have claim ${object.name} ask for ${sizes} (it has to be created anew)`;
}

function poolText({ object: { kind, name } }: RemedyStep): string {
  return kind === 'CSIStorageCapacity' ? `the storage behind CSIStorageCapacity ${name}` : `pool ${name}`;
}

function classText(className: string | undefined): string {
  return className === undefined || className === '' ? ' without a class' : `, class ${className}`;
}

function plural(word: string, names: readonly unknown[]): string {
  return names.length === 1 ? word : `${word}s`;
}

const namesShownMax = 6;

function listed(names: readonly string[]): string {
  return truncatedList(names.slice(0, namesShownMax), names.length);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
