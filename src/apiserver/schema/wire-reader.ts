/** Bytes that are not valid protobuf, with the message of Kubernetes' generated decoders. */
export class WireError extends Error {}

/**
 * Reads protobuf bytes. Every read is checked against the end of the current message, and every step moves forward, so
 * truncated or hostile bytes end in a {@link WireError}.
 */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;
  #end: number;
  #type = 0;
  /** The two halves of the last varint. */
  #low = 0;
  #high = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#end = bytes.length;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  /** The wire type of the field whose number was read last. */
  get wireType(): number {
    return this.#type;
  }

  /** The number of the next field of a message. */
  field(message: string): number {
    this.#varint();
    this.#type = this.#low & 7;
    const number = (this.#low >>> 3) | ((this.#high & 7) << 29);
    if (this.#type === 4) throw new WireError(`proto: ${message}: wiretype end group for non-group`);
    if (number <= 0) throw new WireError(`proto: ${message}: illegal tag ${number} (wire type ${this.#low})`);
    return number;
  }

  bool(): boolean {
    this.#varint();
    return this.#low !== 0 || this.#high !== 0;
  }

  int32(): number {
    this.#varint();
    return this.#low | 0;
  }

  /** A bigint beyond 2^53, otherwise a number. */
  int64(): number | bigint {
    this.#varint();
    const [high, low] = [this.#high | 0, this.#low >>> 0];
    const value = high * 2 ** 32 + low;
    return Number.isSafeInteger(value) ? value : (BigInt(high) << 32n) + BigInt(low);
  }

  float64(): number {
    if (this.#at + 8 > this.#end) throw unexpectedEnd();
    this.#at += 8;
    return this.#bytes.readDoubleLE(this.#at - 8);
  }

  /** A view of the bytes, not a copy. */
  bytes(): Buffer {
    const length = this.#length();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    const length = this.#length();
    this.#at += length;
    return this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  /** Enters a message; pass the returned value to {@link leave}. */
  enter(): number {
    const length = this.#length();
    const outer = this.#end;
    this.#end = this.#at + length;
    return outer;
  }

  leave(outer: number): void {
    this.#end = outer;
  }

  /** Skips the value of an unknown field, groups included. */
  skip(firstType: number): void {
    let depth = 0;
    let type = firstType;
    for (;;) {
      depth += this.#skipOne(type);
      if (depth === 0) return;
      this.#varint();
      type = this.#low & 7;
    }
  }

  /** Skips one value and returns how it changes the depth of groups. */
  #skipOne(type: number): number {
    switch (type) {
      case 0:
        this.#varint();
        return 0;
      case 1:
        this.#advance(8);
        return 0;
      case 2:
        this.#advance(this.#length());
        return 0;
      case 3:
        return 1;
      case 4:
        return -1;
      case 5:
        this.#advance(4);
        return 0;
      default:
        throw new WireError(`proto: illegal wireType ${type}`);
    }
  }

  #advance(length: number): void {
    if (this.#at + length > this.#end) throw unexpectedEnd();
    this.#at += length;
  }

  #length(): number {
    this.#varint();
    if (this.#high < 0) throw new WireError('proto: negative length found during unmarshaling');
    if (this.#high !== 0 || this.#low >>> 0 > this.#end - this.#at) throw unexpectedEnd();
    return this.#low;
  }

  #varint(): void {
    this.#low = 0;
    this.#high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= this.#end) throw unexpectedEnd();
      const byte = this.#bytes[this.#at++] as number;
      const bits = byte & 0x7f;
      if (shift < 28) this.#low |= bits << shift;
      else if (shift === 28) {
        this.#low |= bits << 28;
        this.#high = bits >>> 4;
      } else if (shift < 63) this.#high |= bits << (shift - 32);
      else this.#high |= (bits & 1) << 31;
      if (byte < 0x80) return;
    }
    throw new WireError('proto: integer overflow');
  }
}

function unexpectedEnd(): WireError {
  return new WireError('unexpected EOF');
}
