import { unreachable } from '../../../runtime/assert.ts';
import { bytesText, coresText, resourceText } from './amount-text.ts';
import type { Remedy } from './collection.ts';
import type { Step } from './step.ts';

/** What to do, in a sentence for people. Figures are rounded so that doing what it says is enough. */
export function remedyText({ node, steps }: Remedy): string {
  const [first = '', ...others] = steps.map((step) => stepText(step, node));
  const whole = [capital(first), ...others].join(', and ');
  return `${whole}; the pod then fits on ${node}.`;
}

export function stepText(step: Step, node: string): string {
  const { sort, object, amount, names, scope } = step;
  const from = step.from ?? 0;
  const to = step.to ?? 0;
  switch (sort) {
    case 'CreateVolume':
      return `create a PersistentVolume of ${bytesText(amount, 'up')}${classText(names[0])} that ${node} can reach`;
    case 'CreateNode':
      return `add a node like ${names[0]} (cpu ${coresText(from)}, memory ${bytesText(to)})`;
    case 'UncordonNode':
      return `uncordon node ${object.name}`;
    case 'RemoveTaint':
      return `remove ${plural('taint', names)} ${names.join(', ')} from node ${object.name}`;
    case 'LabelNode':
      return `label node ${object.name} with ${names.join(', ')}`;
    case 'GrowPool':
      return `grow ${poolText(step)} by ${bytesText(amount, 'up')}, to ${bytesText(to, 'up')}`;
    case 'FreeVolume':
      return `clear the claimRef of PersistentVolume ${object.name}, whose claim is gone (its data stays on it)`;
    case 'AllowTopology':
      return `add ${names.join(', ')} to the allowedTopologies of StorageClass ${object.name}`;
    case 'InstallDriver':
      return `install ${plural('CSI driver', names)} ${names.join(', ')} on node ${object.name}`;
    case 'UnpinClaim':
      return `remove the annotation volume.kubernetes.io/selected-node (${names[0]}) from claim ${object.name}`;
    case 'GrowNode':
      return growNodeText(step);
    case 'TolerateTaint':
      return `have the pod tolerate ${names.join(', ')}`;
    case 'DropNodeSelector':
      return `have the pod do without ${names.join(', ')}`;
    case 'AskForLess':
      return `have the pod ask for ${scope} ${resourceText(scope, to, 'down')} instead of ${resourceText(scope, from)}`;
    case 'ShrinkClaim':
      return shrinkText(step);
    case 'RaiseMaxSkew':
      return `raise maxSkew of the spread over ${scope} from ${from} to ${to}`;
    case 'DropAffinity':
      return 'have the pod prefer its pod affinity instead of requiring it';
    case 'DropAntiAffinity':
      return 'have the pod prefer its pod anti-affinity instead of requiring it';
    case 'RemovePods':
      return `remove ${plural('pod', names)} ${listed(names)}`;
    default:
      return unreachable(sort);
  }
}

function growNodeText({ object, scope, amount, from = 0 }: Step): string {
  if (scope === 'pods')
    return `let node ${object.name} run ${amount} more (now ${from} pods; its kubelet's maxPods)`;
  const more = resourceText(scope, amount, 'up');
  return `give node ${object.name} ${more} more ${scope} (it has ${resourceText(scope, from)})`;
}

function shrinkText({ object, from = 0, to = 0, names }: Step): string {
  const sizes = `${bytesText(to, 'down')} instead of ${bytesText(from)}`;
  return names.includes('ephemeral')
    ? `have the pod's volume template behind claim ${object.name} ask for ${sizes}`
    : `have claim ${object.name} ask for ${sizes} (it has to be created anew)`;
}

function poolText({ object: { kind, name } }: Step): string {
  return kind === 'CSIStorageCapacity' ? `the storage behind CSIStorageCapacity ${name}` : `pool ${name}`;
}

function classText(className: string | undefined): string {
  return className === undefined || className === '' ? ' without a class' : `, class ${className},`;
}

function plural(word: string, names: readonly unknown[]): string {
  return names.length === 1 ? word : `${word}s`;
}

const namesShownMax = 6;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesShownMax);
  const more = names.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
