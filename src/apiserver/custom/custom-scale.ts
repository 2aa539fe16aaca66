import type { CustomResourceSubresourceScale } from '../../kube/api/stored/apiextensions.ts';
import { goTypeName } from '../../kube/go/format-value.ts';
import { jsonText } from '../../kube/go/json-text.ts';
import { isJsonObject, type Json, type JsonDraft, setKey } from '../../kube/go/json-value.ts';
import type { ScaleRule, StoredObject } from '../kinds/served-kind.ts';
import type { FieldErrors } from '../validation/field-errors.ts';

const int32Max = 2 ** 31 - 1;

/** /scale of a custom resource; its definition names the fields. */
export function customScale(scale: CustomResourceSubresourceScale): ScaleRule<StoredObject> {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = scale;
  return {
    replicasPath: specReplicasPath,
    read(object) {
      const wanted = valueAt(object, specReplicasPath);
      const selector = labelSelectorPath === '' ? '' : valueAt(object, labelSelectorPath);
      return {
        desired: wanted === undefined ? undefined : numberOf(wanted),
        current: numberOf(valueAt(object, statusReplicasPath)),
        selector: typeof selector === 'string' ? selector : '',
      };
    },
    write(object, replicas) {
      setAt(object as unknown as JsonDraft, stepsOf(specReplicasPath), replicas);
    },
  };
}

/** Checks the types of the fields that scaling uses, where they are set. */
export function checkScaleFields(
  object: StoredObject,
  scale: CustomResourceSubresourceScale,
  errors: FieldErrors,
  fields: 'all' | 'status',
): void {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = scale;
  if (fields === 'all') checkCount(object, specReplicasPath, errors);
  checkCount(object, statusReplicasPath, errors);
  if (labelSelectorPath === '') return;
  const selector = valueAt(object, labelSelectorPath);
  if (selector === undefined || typeof selector === 'string') return;
  errors.invalid(labelSelectorPath, '', accessorError(labelSelectorPath, selector, 'string'));
}

function checkCount(object: StoredObject, path: string, errors: FieldErrors): void {
  const value = valueAt(object, path);
  if (value === undefined) return;
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
  if (!isInteger) {
    errors.invalid(path, 0, accessorError(path, value, 'int64'));
  } else if (value < 0) {
    errors.invalid(path, value, 'should be a non-negative integer');
  } else if (value > int32Max) {
    errors.invalid(path, value, `should be less than or equal to ${int32Max}`);
  }
}

function accessorError(path: string, value: Json, expected: string): string {
  const shown = typeof value === 'object' ? jsonText(value) : String(value);
  return `${path} accessor error: ${shown} is of the type ${goTypeName(value)}, expected ${expected}`;
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}

function stepsOf(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.');
}

function valueAt(object: StoredObject, path: string): Json | undefined {
  let value: Json | undefined = object as unknown as Json;
  for (const step of stepsOf(path)) {
    if (!isJsonObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

function setAt(object: JsonDraft, [first = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    setKey(object, first, value);
    return;
  }
  const child = Object.hasOwn(object, first) ? object[first] : undefined;
  const inner: JsonDraft = isJsonObject(child) ? child : {};
  setKey(object, first, inner);
  setAt(inner, rest, value);
}
