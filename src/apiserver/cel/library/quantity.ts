import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityFromBytes,
  quantityToNano,
  subtractQuantities,
} from '../../../kube/quantities/quantity.ts';
import type { FunctionLibrary } from '../types/declarations.ts';
import { CelError, type OpaqueValue, type Value } from '../values/values.ts';

/** Kubernetes' quantities: `10Gi`. */
export const quantityLibrary: FunctionLibrary = {
  signatures: `
    .add quantity_add (kubernetes.Quantity, kubernetes.Quantity) -> kubernetes.Quantity
    .add quantity_add_int (kubernetes.Quantity, int) -> kubernetes.Quantity
    .asApproximateFloat quantity_get_float (kubernetes.Quantity) -> double
    .asInteger quantity_get_int (kubernetes.Quantity) -> int
    .compareTo quantity_compare_to (kubernetes.Quantity, kubernetes.Quantity) -> int
    .isGreaterThan quantity_is_greater_than (kubernetes.Quantity, kubernetes.Quantity) -> bool
    .isInteger quantity_is_integer (kubernetes.Quantity) -> bool
    .isLessThan quantity_is_less_than (kubernetes.Quantity, kubernetes.Quantity) -> bool
    isQuantity is_quantity_string (string) -> bool
    quantity string_to_quantity (string) -> kubernetes.Quantity
    sign quantity_sign (kubernetes.Quantity) -> int
    .sub quantity_sub (kubernetes.Quantity, kubernetes.Quantity) -> kubernetes.Quantity
    .sub quantity_sub_int (kubernetes.Quantity, int) -> kubernetes.Quantity
  `,
  implementations: {
    string_to_quantity: (text) => parse(text as string),
    is_quantity_string: (text) => parse(text as string) instanceof QuantityValue,
    quantity_sign: (value) => BigInt(signOf(quantityToNano(amountOf(value)))),
    quantity_is_greater_than: (a, b) => compareQuantities(amountOf(a), amountOf(b)) > 0,
    quantity_is_less_than: (a, b) => compareQuantities(amountOf(a), amountOf(b)) < 0,
    quantity_compare_to: (a, b) => BigInt(compareQuantities(amountOf(a), amountOf(b))),
    quantity_get_float: (value) => Number(quantityToNano(amountOf(value))) / 1e9,
    quantity_get_int: (value) => wholeOf(value) ?? new CelError('cannot convert value to integer'),
    quantity_is_integer: (value) => wholeOf(value) !== undefined,
    quantity_add: (a, b) => combined(a, b, addQuantities),
    quantity_add_int: (a, b) => combined(a, quantityOf(b), addQuantities),
    quantity_sub: (a, b) => combined(a, b, subtractQuantities),
    quantity_sub_int: (a, b) => combined(a, quantityOf(b), subtractQuantities),
  },
};

class QuantityValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'kubernetes.Quantity';
  readonly quantity: Quantity;
  /**
   * The power of ten in which Go stores it; undefined if Go uses big decimals. Only a quantity stored in whole numbers
   * is an integer there: `1000m` is not.
   */
  readonly scale: number | undefined;

  constructor(quantity: Quantity, scale: number | undefined) {
    this.quantity = quantity;
    this.scale = scale;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof QuantityValue && compareQuantities(this.quantity, other.quantity) === 0;
  }

  toString(): string {
    return formatQuantity(this.quantity);
  }
}

const formatProblem =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

function parse(text: string): Value {
  const result = /^\s|\s$/.test(text) ? undefined : parseQuantity(text);
  if (result?.ok) return new QuantityValue(result.quantity, scaleOf(text));
  const number = /^[+-]?[0-9.]+/.exec(text)?.[0];
  const hasValidForm = number !== undefined && /^[eEinumkKMGTP]*[-+]?[0-9]*$/.test(text.slice(number.length));
  return new CelError(hasValidForm ? "unable to parse quantity's suffix" : formatProblem);
}

function amountOf(value: Value): Quantity {
  return (value as QuantityValue).quantity;
}

function quantityOf(value: Value): Value {
  return new QuantityValue(quantityFromBytes(value as bigint, 'DecimalExponent'), 0);
}

const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
/** The number of digits that Go stores in an int64 without further checks. */
const digitsMax = 18;

function scaleOf(text: string): number | undefined {
  const [, digits = '', fraction = '', suffix = ''] = /^[+-]?0*(\d*)\.?(\d*)(.*)$/.exec(text) ?? [];
  const power = 'KMGTPE'.indexOf(suffix[0] ?? '-') + 1;
  if (suffix.endsWith('i')) {
    const isPlain = fraction === '' && 15 - digits.length - Math.trunc(power * 3) - 1 >= 0;
    return isPlain ? 0 : undefined;
  }
  const exponent = decimalExponents[suffix] ?? Number(suffix.slice(1));
  const scale = exponent - fraction.length;
  return digits.length + fraction.length <= digitsMax && scale >= -9 ? scale : undefined;
}

/** The result has the finer of both scales; a quantity of zero has none. */
function combined(a: Value, b: Value, combine: (a: Quantity, b: Quantity) => Quantity): Value {
  const left = a as QuantityValue;
  const right = b as QuantityValue;
  const quantity = combine(left.quantity, right.quantity);
  if (right.quantity.amount === 0) return new QuantityValue(quantity, left.scale);
  if (left.quantity.amount === 0) return new QuantityValue(quantity, right.scale);
  const isScaled = left.scale !== undefined && right.scale !== undefined;
  return new QuantityValue(quantity, isScaled ? Math.min(left.scale, right.scale) : undefined);
}

function signOf(value: bigint): number {
  return value === 0n ? 0 : value < 0n ? -1 : 1;
}

const nano = 1_000_000_000n;

function wholeOf(value: Value): bigint | undefined {
  const { scale } = value as QuantityValue;
  if (scale === undefined || scale < 0) return undefined;
  const nanos = quantityToNano(amountOf(value));
  const whole = nanos / nano;
  const fits = nanos % nano === 0n && BigInt.asIntN(64, whole) === whole;
  return fits ? whole : undefined;
}
