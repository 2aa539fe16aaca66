import { badRequest, failure } from '../../kube/api-error.ts';
import { apiVersionOf } from '../../kube/resource.ts';
import type { ServedKind, StoredObject } from '../kinds/served-kind.ts';
import { formOf } from '../schema/object-form.ts';

/**
 * Converts an object from within the process to what the registry expects: typed, canonical and a copy, as if it had
 * been sent as JSON.
 */
export function canonicalObject(
  kind: ServedKind,
  object: object,
  fieldValidation: 'Ignore' | 'Warn' | 'Strict' = 'Warn',
  warn: (text: string) => void = () => {},
  subresource?: string,
): StoredObject {
  const expected = expectedBody(kind, subresource);
  const { object: typed, unknownFields } = formOf(expected).normalize(object);
  const fieldErrors = unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`);
  if (fieldErrors.length > 0 && fieldValidation === 'Strict') {
    throw badRequest(
      `${expected.kind} in version "${expected.version}" cannot be handled as a ${expected.kind}: strict decoding error: ${fieldErrors.join(', ')}`,
    );
  }
  if (fieldValidation === 'Warn') for (const text of fieldErrors) warn(text);
  return { ...typed, kind: expected.kind, apiVersion: expected.apiVersion } as unknown as StoredObject;
}

/** The type of a write's body: the kind itself, or that of a subresource. */
function expectedBody(kind: ServedKind, subresource: string | undefined) {
  const own = {
    kind: kind.kind,
    version: kind.version,
    apiVersion: apiVersionOf(kind),
    type: kind.type,
    form: kind.form,
  };
  if (subresource === undefined || subresource === 'status' || subresource === 'finalize') return own;
  if (subresource === 'scale') {
    return { kind: 'Scale', version: 'v1', apiVersion: 'autoscaling/v1', type: 'autoscaling/v1.Scale' };
  }
  const found = kind.subresources?.find(({ name }) => name === subresource);
  if (found === undefined)
    throw failure(404, 'NotFound', 'the server could not find the requested resource', {});
  const { group = kind.group, version = kind.version } = found;
  return { kind: found.kind, version, apiVersion: apiVersionOf({ group, version }), type: found.type };
}
