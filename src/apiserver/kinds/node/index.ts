/**
 * The group `node.k8s.io/v1`: RuntimeClass. (The kind Node is in `../core/nodes/`.)
 */
import { anyKind, type ServedKind } from '../served-kind.ts';
import { runtimeClassKind } from './runtime-class.ts';

export const nodeGroupKinds: readonly ServedKind[] = [anyKind(runtimeClassKind)];
