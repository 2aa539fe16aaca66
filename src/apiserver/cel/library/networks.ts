import { goQuoted } from '../../validation/go-text.ts';
import type { Library } from '../checking/declarations.ts';
import { CelError, noSuchOverload, type OpaqueValue, type Value } from '../evaluation/values.ts';
import { type Address, formatAddress, parseAddress } from './addresses.ts';

/** Addresses and networks. */
export const networkLibrary: Library = {
  signatures: `
    .family ip_family (net.IP) -> int
    ip string_to_ip (string) -> net.IP
    ip.isCanonical ip_is_canonical (string) -> bool
    .isGlobalUnicast ip_is_global_unicast (net.IP) -> bool
    isIP is_ip (string) -> bool
    .isLinkLocalMulticast ip_is_link_local_multicast (net.IP) -> bool
    .isLinkLocalUnicast ip_is_link_local_unicast (net.IP) -> bool
    .isLoopback ip_is_loopback (net.IP) -> bool
    .isUnspecified ip_is_unspecified (net.IP) -> bool
    string ip_to_string (net.IP) -> string
    cidr string_to_cidr (string) -> net.CIDR
    .containsCIDR cidr_contains_cidr_string (net.CIDR, string) -> bool
    .containsCIDR cidr_contains_cidr (net.CIDR, net.CIDR) -> bool
    .containsIP cidr_contains_ip_string (net.CIDR, string) -> bool
    .containsIP cidr_contains_ip_ip (net.CIDR, net.IP) -> bool
    .ip cidr_ip (net.CIDR) -> net.IP
    isCIDR is_cidr (string) -> bool
    .masked cidr_masked (net.CIDR) -> net.CIDR
    .prefixLength cidr_prefix_length (net.CIDR) -> int
    string cidr_to_string (net.CIDR) -> string
  `,
  implementations: {
    string_to_ip: (text) => parseIp(text as string),
    is_ip: (text) => parseIp(text as string) instanceof IpValue,
    ip_is_canonical: (text) => isCanonical(text as string),
    ip_to_string: String,
    ip_family: (ip) => (bytesOf(ip).length === 4 ? 4n : 6n),
    ip_is_unspecified: (ip) => isUnspecified(bytesOf(ip)),
    ip_is_loopback: (ip) => isLoopback(bytesOf(ip)),
    ip_is_link_local_multicast: (ip) => isLinkLocalMulticast(bytesOf(ip)),
    ip_is_link_local_unicast: (ip) => isLinkLocalUnicast(bytesOf(ip)),
    ip_is_global_unicast: (ip) => isGlobalUnicast(bytesOf(ip)),
    string_to_cidr: (text) => parseNetwork(text as string),
    is_cidr: (text) => parseNetwork(text as string) instanceof NetworkValue,
    cidr_to_string: String,
    cidr_ip: (network) => new IpValue((network as NetworkValue).address),
    cidr_prefix_length: (network) => BigInt((network as NetworkValue).bits),
    cidr_masked: (network) => masked(network as NetworkValue),
    cidr_contains_ip_string: (network, text) => {
      const ip = parseIp(text as string);
      return ip instanceof CelError ? new CelError(noSuchOverload) : containsIp(network, ip);
    },
    cidr_contains_ip_ip: containsIp,
    cidr_contains_cidr_string: (network, text) => {
      const other = parseNetwork(text as string);
      return other instanceof CelError ? other : containsNetwork(network, other);
    },
    cidr_contains_cidr: containsNetwork,
  },
};

class IpValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'net.IP';
  readonly address: Address;

  constructor(address: Address) {
    this.address = address;
  }

  get size(): number {
    return this.address.bytes.length;
  }

  equals(other: OpaqueValue): boolean {
    return String(other) === String(this);
  }

  toString(): string {
    return formatAddress(this.address);
  }
}

class NetworkValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'net.CIDR';
  readonly address: Address;
  readonly bits: number;

  constructor(address: Address, bits: number) {
    this.address = address;
    this.bits = bits;
  }

  get size(): number {
    return Math.ceil(this.bits / 8);
  }

  equals(other: OpaqueValue): boolean {
    return String(other) === String(this);
  }

  toString(): string {
    return `${formatAddress(this.address)}/${this.bits}`;
  }
}

function parseIp(text: string): Value {
  const address = parseAddress(text);
  if (typeof address === 'string') {
    return new CelError(`IP Address ${goQuoted(text)} parse error during conversion from string: ${address}`);
  }
  if (address.zone !== '') return new CelError(`IP address ${goQuoted(text)} with zone value is not allowed`);
  if (isMapped(address.bytes))
    return new CelError(`IPv4-mapped IPv6 address ${goQuoted(text)} is not allowed`);
  return new IpValue(address);
}

function isCanonical(text: string): Value {
  const ip = parseIp(text);
  return ip instanceof CelError ? ip : String(ip) === text;
}

const networkError = 'network address parse error during conversion from string';

function parseNetwork(text: string): Value {
  const parsed = readNetwork(text);
  if (typeof parsed === 'string') {
    const detail = `${networkError}: netip.ParsePrefix(${goQuoted(text)}): ${parsed}`;
    return new CelError(`${networkError}: ${detail}`);
  }
  if (!isMapped(parsed.address.bytes)) return parsed;
  return new CelError(`${networkError}: IPv4-mapped IPv6 address ${goQuoted(text)} is not allowed`);
}

function readNetwork(text: string): NetworkValue | string {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return "no '/'";
  const address = parseAddress(text.slice(0, slash));
  if (typeof address === 'string') return address;
  if (address.zone !== '') return 'IPv6 zones cannot be present in a prefix';
  const bitsText = text.slice(slash + 1);
  if (!/^(?:0|[1-9]\d*)$/.test(bitsText)) return `bad bits after slash: ${goQuoted(bitsText)}`;
  const bits = Number(bitsText);
  return bits > address.bytes.length * 8 ? 'prefix length out of range' : new NetworkValue(address, bits);
}

function bytesOf(ip: Value): readonly number[] {
  return (ip as IpValue).address.bytes;
}

function isMapped(bytes: readonly number[]): boolean {
  return (
    bytes.length === 16 &&
    bytes.slice(0, 10).every((byte) => byte === 0) &&
    bytes[10] === 255 &&
    bytes[11] === 255
  );
}

function isUnspecified(bytes: readonly number[]): boolean {
  return bytes.every((byte) => byte === 0);
}

function isLoopback(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return bytes[0] === 127;
  return bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
}

function isMulticast(bytes: readonly number[]): boolean {
  const first = bytes[0] ?? 0;
  return bytes.length === 4 ? (first & 0xf0) === 0xe0 : first === 0xff;
}

function isLinkLocalMulticast(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0;
  return bytes[0] === 0xff && ((bytes[1] ?? 0) & 0x0f) === 0x02;
}

function isLinkLocalUnicast(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return bytes[0] === 169 && bytes[1] === 254;
  return bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80;
}

function isGlobalUnicast(bytes: readonly number[]): boolean {
  if (bytes.length === 4 && bytes.every((byte) => byte === 255)) return false;
  return !isUnspecified(bytes) && !isLoopback(bytes) && !isMulticast(bytes) && !isLinkLocalUnicast(bytes);
}

function containsIp(network: Value, ip: Value): Value {
  const { address, bits } = network as NetworkValue;
  return sharesPrefix(address.bytes, bytesOf(ip), bits);
}

/** Both overlap, and the other one is not the larger. */
function containsNetwork(network: Value, other: Value): Value {
  const outer = network as NetworkValue;
  const inner = other as NetworkValue;
  return outer.bits <= inner.bits && sharesPrefix(outer.address.bytes, inner.address.bytes, outer.bits);
}

function sharesPrefix(a: readonly number[], b: readonly number[], bits: number): boolean {
  if (a.length !== b.length) return false;
  return maskBytes(a, bits).every((byte, index) => byte === maskBytes(b, bits)[index]);
}

function masked({ address, bits }: NetworkValue): Value {
  return new NetworkValue({ ...address, bytes: maskBytes(address.bytes, bits) }, bits);
}

function maskBytes(bytes: readonly number[], bits: number): readonly number[] {
  return bytes.map((byte, index) => {
    const kept = Math.max(0, Math.min(8, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}
