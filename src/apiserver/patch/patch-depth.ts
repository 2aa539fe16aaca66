import { malformedPatch } from './patch-error.ts';

/** No API type is nested nearly this deep; a deeper patch can only be an attempt to overflow the stack. */
const depthMax = 512;

/** Throws if a patch is nested so deep that a recursive walk would overflow the stack. */
export function checkPatchDepth(value: unknown, depthLeft: number = depthMax): void {
  if (typeof value !== 'object' || value === null) return;
  if (depthLeft === 0) throw malformedPatch('exceeded max depth');
  if (Array.isArray(value)) {
    for (const item of value) checkPatchDepth(item, depthLeft - 1);
  } else {
    for (const item of Object.values(value)) checkPatchDepth(item, depthLeft - 1);
  }
}
