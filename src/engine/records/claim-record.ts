import type { PersistentVolumeClaim } from '../../kube/api/core.ts';
import { controllerOf } from '../../kube/owner-references.ts';
import { type CompiledLabelSelector, compileLabelSelector } from '../../kube/selectors/label-selector.ts';
import { claimClassName, isFullyBound, volumeModeOf } from '../../kube/volumes.ts';
import { annotations } from '../../kube/well-known.ts';
import { textOf } from '../../kube/wire.ts';
import { compareSizes, type Size } from '../size.ts';
import { accessModeBits, unknownModeProblems } from './access-modes.ts';
import { readSize } from './field-readers.ts';
import { type Identity, namespacedIdentity } from './identity.ts';
import type { Interner } from './interner.ts';
import { requirementsKey } from './node-matcher.ts';
import { readVolumePolicy, type VolumePolicy } from './volume-policy.ts';

/** The fields of a PersistentVolumeClaim that the engine uses. */
export interface ClaimRecord extends Identity {
  readonly namespace: string;
  readonly name: string;
  /** Empty for a claim without a class. */
  readonly className: string;
  readonly volumeName: string;
  /** The claim has the bind-completed annotation and a volume name, as Kubernetes defines bound. The phase is ignored. */
  readonly isBound: boolean;
  readonly isLost: boolean;
  /** Undefined if no storage is requested: any volume is large enough, and no pool capacity is checked. */
  readonly request: Size | undefined;
  /**
   * The size that the volume of the bound claim gets, once an expansion is done. Undefined if no storage is requested, or if the
   * driver has found the requested size infeasible.
   */
  readonly wantedSize: Size | undefined;
  readonly mode: string;
  readonly attributesClass: string;
  readonly accessModes: number;
  readonly selector: CompiledLabelSelector | undefined;
  /** Equal for equal selectors; empty without a selector. */
  readonly selectorKey: string;
  readonly selectedNode: string;
  /** The annotation may exist with an empty value. kube-scheduler then requires a node with an empty name. */
  readonly hasSelectedNode: boolean;
  /** The pool or drive that a Stowage scheduler reserved and named in an annotation. */
  readonly poolHint: string;
  /** The binding is being rolled back, so no plan may use it. */
  readonly isRollingBack: boolean;
  /** The uid of the pod that controls a generic ephemeral volume's claim. */
  readonly controllerUid: string;
  /** The owner that controls the claim; undefined if there is none. */
  readonly controller: { readonly kind: string; readonly name: string } | undefined;
  readonly policy: VolumePolicy;
  /** The error in the annotations of the policy; undefined if they are valid. */
  readonly policyProblem: string | undefined;
  readonly problems: readonly string[];
  /** False if the request or selector can't be read: then no volume can be chosen for the claim. */
  readonly isUsable: boolean;
}

export function readClaim(claim: PersistentVolumeClaim, interner: Interner): ClaimRecord {
  const problems: string[] = [];
  const spec = claim.spec;
  const request = readSize(spec?.resources?.requests?.storage, 'spec.resources.requests.storage');
  if (request.kind === 'invalid') problems.push(request.problem);
  const selector = readSelector(claim, problems);
  const isUsable = problems.length === 0;
  const policyProblems: string[] = [];
  const policy = readVolumePolicy(claim.metadata?.annotations, policyProblems);
  problems.push(...policyProblems);
  problems.push(...unknownModeProblems(spec?.accessModes, 'spec.accessModes'));
  const { key, uid, version, isDeleting } = namespacedIdentity(claim);
  return {
    key,
    uid,
    version,
    isDeleting,
    namespace: interner.text(textOf(claim.metadata?.namespace)),
    name: textOf(claim.metadata?.name),
    className: interner.text(claimClassName(claim)),
    volumeName: textOf(spec?.volumeName),
    isBound: isFullyBound(claim),
    isLost: claim.status?.phase === 'Lost',
    request: request.kind === 'size' ? request.size : undefined,
    wantedSize: request.kind === 'size' ? wantedSizeOf(claim, request.size) : undefined,
    mode: volumeModeOf(claim),
    attributesClass: interner.text(textOf(spec?.volumeAttributesClassName)),
    accessModes: accessModeBits(spec?.accessModes),
    selector,
    selectorKey:
      selector?.requirements === undefined ? '' : interner.text(requirementsKey(selector.requirements)),
    selectedNode: textOf(claim.metadata?.annotations?.[annotations.selectedNode]),
    hasSelectedNode: typeof claim.metadata?.annotations?.[annotations.selectedNode] === 'string',
    poolHint:
      textOf(claim.metadata?.annotations?.[annotations.drive]) ||
      textOf(claim.metadata?.annotations?.[annotations.pool]),
    isRollingBack: typeof claim.metadata?.annotations?.[annotations.rollback] === 'string',
    controllerUid: textOf(controllerOf(claim)?.uid),
    controller: readController(claim),
    policy,
    policyProblem: policyProblems[0],
    problems,
    isUsable,
  };
}

/**
 * As an expander decides (KEP 1790): a started expansion is finished with the size in `allocatedResources`, also if the claim requests less
 * by now. Only an infeasible size is replaced by the request.
 */
function wantedSizeOf({ status }: PersistentVolumeClaim, request: Size): Size | undefined {
  const state = textOf(status?.allocatedResourceStatuses?.storage);
  const allocated = readSize(status?.allocatedResources?.storage, 'status.allocatedResources.storage');
  if (state === '' || allocated.kind !== 'size') return request;
  const order = compareSizes(allocated.size, request);
  if (state === 'ControllerResizeInfeasible') return order === 0 ? undefined : request;
  return order > 0 ? allocated.size : request;
}

function readController(claim: PersistentVolumeClaim): ClaimRecord['controller'] {
  const owner = controllerOf(claim);
  return owner === undefined ? undefined : { kind: textOf(owner.kind), name: textOf(owner.name) };
}

function readSelector(claim: PersistentVolumeClaim, problems: string[]): CompiledLabelSelector | undefined {
  const selector = claim.spec?.selector;
  if (selector === undefined || selector === null) return undefined;
  const compiled = compileLabelSelector(selector, 'spec.selector');
  if (compiled.ok) return compiled.selector.requirements?.length === 0 ? undefined : compiled.selector;
  problems.push(compiled.problem);
  return undefined;
}
