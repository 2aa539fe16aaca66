/** Encodes protobuf field by field. */
export class WireWriter {
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  /** Returns the bytes written; the writer must not be used afterwards. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  text(field: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#tag(field, lengthDelimited);
    this.#varint(length);
    this.#reserve(length);
    this.#length += this.#bytes.write(value, this.#length);
  }

  /** Writes a message that is encoded already. */
  bytes(field: number, value: Uint8Array): void {
    this.#tag(field, lengthDelimited);
    this.#varint(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  bool(field: number, value: boolean): void {
    this.#tag(field, varint);
    this.#varint(value ? 1 : 0);
  }

  int64(field: number, value: number): void {
    this.#tag(field, varint);
    this.#varint(value);
  }

  double(field: number, value: number): void {
    this.#tag(field, fixed64);
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  /** Writes a nested message. Its length is known only afterwards, so the message is then moved to insert the length before it. */
  message(field: number, write: () => void): void {
    this.#tag(field, lengthDelimited);
    const start = this.#length;
    write();
    const end = this.#length;
    this.#varint(end - start);
    const prefix = Buffer.from(this.#bytes.subarray(end, this.#length));
    this.#bytes.copyWithin(start + prefix.length, start, end);
    prefix.copy(this.#bytes, start);
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  /** Negative numbers take 64 bits. */
  #varint(value: number): void {
    this.#reserve(10);
    let rest = value < 0 ? BigInt.asUintN(64, BigInt(value)) : undefined;
    for (; rest !== undefined && rest >= 0x80n; rest >>= 7n) this.#byte(Number(rest & 0x7fn) | 0x80);
    let small = rest === undefined ? value : Number(rest);
    for (; small >= 0x80; small = Math.floor(small / 0x80)) this.#byte((small % 0x80) | 0x80);
    this.#byte(small);
  }

  #byte(value: number): void {
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}

const varint = 0;
const fixed64 = 1;
const lengthDelimited = 2;
