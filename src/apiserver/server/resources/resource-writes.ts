import type { FullAnswer } from '../../../io/http/full-response.ts';
import type { Status } from '../../../kube/api/meta.ts';
import { badRequest, isReason } from '../../../kube/api-error.ts';
import type { Caller } from '../../access/access.ts';
import type { User } from '../../access/user.ts';
import type { Kind } from '../../kinds/served-kind.ts';
import type { UpdateContext } from '../../registry/registry.ts';
import { decodeBody } from '../../schema/decode.ts';
import type { ExpectedType } from '../../schema/group-version-kind.ts';
import type { HttpRequest } from '../http/http-exchange.ts';
import type { RequestContext } from '../request-context.ts';
import { readListOptions } from '../requests/list-options.ts';
import { patchTypeOf, readPatch } from '../requests/patch-body.ts';
import { readObject } from '../requests/request-object.ts';
import {
  checkedDeletion,
  type DeleteOptions,
  deleteOptionsOfQuery,
  readPatchOptions,
  readWriteOptions,
  type WriteOptions,
} from '../requests/write-options.ts';
import { valueAnswer } from '../responses/body-responses.ts';
import { type Allowed, negotiate } from '../responses/negotiation.ts';
import { listAnswer, objectAnswer } from '../responses/object-responses.ts';
import type { ResourceTarget } from '../routing/router.ts';

const anyShape: Allowed = { shapes: 'all' };

export async function createResource(
  { registry, clock, caller }: RequestContext,
  request: HttpRequest,
  { kind, namespace }: ResourceTarget,
): Promise<FullAnswer> {
  const form = negotiate(request, anyShape);
  const options = readWriteOptions(request.query, userAgent(request), 'CreateOptions');
  const object = await readObject(request, caller.user, bodyOf(kind), options);
  const snapshot = await registry.create(kind, namespace, object, writeContext(caller, request, options));
  return objectAnswer(201, snapshot, {
    request,
    kind,
    form,
    nowMs: clock.nowMs(),
  });
}

export async function updateResource(
  { registry, clock, caller }: RequestContext,
  request: HttpRequest,
  { kind, namespace, name = '', subresource }: ResourceTarget,
): Promise<FullAnswer> {
  const form = negotiate(request, anyShape);
  const options = readWriteOptions(request.query, userAgent(request), 'UpdateOptions');
  const object = await readObject(request, caller.user, bodyOf(kind, subresource), options);
  const write = writeContext(caller, request, options, subresource);
  const { snapshot, created } = await registry.update(kind, { namespace, name }, object, write);
  const answering = { request, kind, form, nowMs: clock.nowMs() };
  return objectAnswer(created ? 201 : 200, snapshot, answering);
}

export async function patchResource(
  { registry, clock, caller }: RequestContext,
  request: HttpRequest,
  { kind, namespace, name = '', subresource }: ResourceTarget,
): Promise<FullAnswer> {
  const form = negotiate(request, anyShape);
  const type = patchTypeOf(request.headers['content-type'], kind);
  const options = readPatchOptions(request.query, userAgent(request), type);
  const { fieldValidation, force } = options;
  const bytes = await request.body(caller.user.name);
  const read = readPatch(bytes, { type, fieldValidation, warn: request.warnings.add });
  const write = writeContext(caller, request, options, subresource);
  const patch = { type, ...read, fieldValidation, force };
  const { snapshot, created } = await registry.patch(kind, { namespace, name }, patch, write);
  const answering = { request, kind, form, nowMs: clock.nowMs() };
  return objectAnswer(created ? 201 : 200, snapshot, answering);
}

export async function deleteResource(
  { registry, clock, caller }: RequestContext,
  request: HttpRequest,
  { kind, namespace, name = '' }: ResourceTarget,
): Promise<FullAnswer> {
  const form = negotiate(request, anyShape);
  const { request: deletion, dryRun } = checkedDeletion(await readDeleteOptions(request, caller.user));
  const write = { ...deleting(caller, request), dryRun };
  const deleted = await registry.delete(kind, { namespace, name }, deletion, write);
  if (deleted.kind === 'removed') return valueAnswer(200, form, deleted.status);
  return objectAnswer(200, deleted.snapshot, { request, kind, form, nowMs: clock.nowMs() });
}

export async function deleteCollection(
  { registry, clock, caller }: RequestContext,
  request: HttpRequest,
  { kind, namespace }: ResourceTarget,
): Promise<FullAnswer> {
  const form = negotiate(request, anyShape);
  const { list } = readListOptions(request.query, namespace, false);
  const { request: deletion, dryRun } = checkedDeletion(await readDeleteOptions(request, caller.user));
  const write = { ...deleting(caller, request), dryRun };
  const page = await registry.deleteCollection(kind, list, deletion, write);
  return listAnswer(200, page, { request, kind, form, nowMs: clock.nowMs() });
}

/** POST to a part of an object, such as `binding`. */
export async function postSubresource(
  { registry, caller }: RequestContext,
  request: HttpRequest,
  { kind, namespace, name = '', subresource = '' }: ResourceTarget,
): Promise<FullAnswer> {
  const form = negotiate(request, { shapes: 'metadata' });
  const options = readWriteOptions(request.query, userAgent(request), 'CreateOptions');
  const body = await readObject(request, caller.user, bodyOf(kind, subresource), options);
  const write = writeContext(caller, request, options);
  const status: Status = await registry.post(kind, { namespace, name }, subresource, body, write);
  return valueAnswer(status.code ?? 201, form, status);
}

const deleteOptionsBody: ExpectedType = {
  group: 'meta.k8s.io',
  version: 'v1',
  kind: 'DeleteOptions',
  type: 'meta/v1.DeleteOptions',
};

async function readDeleteOptions(request: HttpRequest, { name }: User): Promise<DeleteOptions> {
  const bytes = await request.body(name);
  if (bytes.length === 0) return deleteOptionsOfQuery(request.query);
  const contentType = request.headers['content-type'];
  try {
    return decodeBody({ bytes, contentType, expected: deleteOptionsBody, fieldValidation: 'Ignore' }).object;
  } catch (error) {
    throw isReason(error, 'BadRequest') ? badRequest(bareComplaint(error.message)) : error;
  }
}

/** Of options the real server tells only what is wrong, not what they should have been. */
function bareComplaint(message: string): string {
  const [, unrecognized] =
    /^the object provided is unrecognized \(must be of type \w+\): (.*) \(.*\)$/s.exec(message) ?? [];
  const [, refused] = /^\S+ in version "[^"]*" cannot be handled as a \w+: (.*)$/s.exec(message) ?? [];
  return unrecognized ?? refused ?? message;
}

const scaleBody: ExpectedType = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  type: 'autoscaling/v1.Scale',
};

/** What a write to a kind or one of its parts carries. */
function bodyOf(kind: Kind, subresource?: string): ExpectedType {
  if (subresource === 'scale') return scaleBody;
  const part = kind.subresources?.find(({ name }) => name === subresource);
  const { group, version } = kind;
  if (part === undefined) return { group, version, kind: kind.kind, type: kind.type, form: kind.form };
  return { group: part.group ?? group, version: part.version ?? version, kind: part.kind, type: part.type };
}

function writeContext(
  { user, guard }: Caller,
  { warnings }: HttpRequest,
  { manager, dryRun }: WriteOptions,
  subresource?: string,
): UpdateContext {
  return { manager, user: user.name, dryRun, subresource, warn: warnings.add, guard };
}

function deleting({ user, guard }: Caller, request: HttpRequest): UpdateContext {
  const { manager } = readWriteOptions(new URLSearchParams(), userAgent(request), 'UpdateOptions');
  return { manager, user: user.name, warn: request.warnings.add, guard };
}

function userAgent({ headers }: HttpRequest): string | undefined {
  return headers['user-agent'];
}
