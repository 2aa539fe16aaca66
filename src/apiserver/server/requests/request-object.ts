import { renameLegacyFields } from '../../../kube/legacy/legacy-names.ts';
import type { User } from '../../access/user.ts';
import type { StoredObject } from '../../kinds/served-kind.ts';
import { decodeBody } from '../../schema/decode.ts';
import type { ExpectedType } from '../../schema/group-version-kind.ts';
import type { IncomingRequest } from '../http/http-exchange.ts';
import type { WriteRequestOptions } from './write-options.ts';

/** Decodes the object in a request's body: typed, canonical and owned by the caller. */
export async function readRequestObject(
  request: IncomingRequest,
  { name }: User,
  expected: ExpectedType,
  { fieldValidation }: Pick<WriteRequestOptions, 'fieldValidation'>,
): Promise<StoredObject> {
  const bytes = await request.body(name);
  const contentType = request.headers['content-type'];
  const decoded = decodeBody({
    bytes,
    contentType,
    expected,
    fieldValidation,
    convert: (object) => renameLegacyFields(object, expected),
  });
  for (const text of decoded.warnings) request.warnings.add(text);
  return decoded.object as unknown as StoredObject;
}
