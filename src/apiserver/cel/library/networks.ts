import { goQuoted } from '../../../kube/go/quote.ts';
import {
  formatIpAddress,
  type IpAddress,
  isIpv4Mapped,
  isLinkLocalMulticastIp,
  isLinkLocalUnicastIp,
  isLoopbackIp,
  isMulticastIp,
  isUnspecifiedIp,
  maskIpBytes,
  parseCidr,
  parseIpAddress,
} from '../../../kube/ip-address.ts';
import type { FunctionLibrary } from '../types/declarations.ts';
import { CelError, noSuchOverload, type OpaqueValue, type Value } from '../values/values.ts';

/** IP addresses and networks. */
export const networkLibrary: FunctionLibrary = {
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
    ip_is_unspecified: (ip) => isUnspecifiedIp(bytesOf(ip)),
    ip_is_loopback: (ip) => isLoopbackIp(bytesOf(ip)),
    ip_is_link_local_multicast: (ip) => isLinkLocalMulticastIp(bytesOf(ip)),
    ip_is_link_local_unicast: (ip) => isLinkLocalUnicastIp(bytesOf(ip)),
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
  readonly address: IpAddress;

  constructor(address: IpAddress) {
    this.address = address;
  }

  get size(): number {
    return this.address.bytes.length;
  }

  equals(other: OpaqueValue): boolean {
    return String(other) === String(this);
  }

  toString(): string {
    return formatIpAddress(this.address);
  }
}

class NetworkValue implements OpaqueValue {
  readonly kind = 'opaque';
  readonly typeName = 'net.CIDR';
  readonly address: IpAddress;
  readonly bits: number;

  constructor(address: IpAddress, bits: number) {
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
    return `${formatIpAddress(this.address)}/${this.bits}`;
  }
}

function parseIp(text: string): Value {
  const address = parseIpAddress(text);
  if (typeof address === 'string') {
    return new CelError(`IP Address ${goQuoted(text)} parse error during conversion from string: ${address}`);
  }
  if (address.zone !== '') return new CelError(`IP address ${goQuoted(text)} with zone value is not allowed`);
  if (isIpv4Mapped(address.bytes))
    return new CelError(`IPv4-mapped IPv6 address ${goQuoted(text)} is not allowed`);
  return new IpValue(address);
}

function isCanonical(text: string): Value {
  const ip = parseIp(text);
  return ip instanceof CelError ? ip : String(ip) === text;
}

const networkError = 'network address parse error during conversion from string';

function parseNetwork(text: string): Value {
  const parsed = parseCidr(text);
  if (typeof parsed === 'string') {
    const detail = `${networkError}: netip.ParsePrefix(${goQuoted(text)}): ${parsed}`;
    return new CelError(`${networkError}: ${detail}`);
  }
  const { address, prefixLength } = parsed;
  if (!isIpv4Mapped(address.bytes)) return new NetworkValue(address, prefixLength);
  return new CelError(`${networkError}: IPv4-mapped IPv6 address ${goQuoted(text)} is not allowed`);
}

function bytesOf(ip: Value): readonly number[] {
  return (ip as IpValue).address.bytes;
}

function isGlobalUnicast(bytes: readonly number[]): boolean {
  if (bytes.length === 4 && bytes.every((byte) => byte === 255)) return false;
  return (
    !isUnspecifiedIp(bytes) && !isLoopbackIp(bytes) && !isMulticastIp(bytes) && !isLinkLocalUnicastIp(bytes)
  );
}

function containsIp(network: Value, ip: Value): Value {
  const { address, bits } = network as NetworkValue;
  return sharesPrefix(address.bytes, bytesOf(ip), bits);
}

/** Both overlap, and the other one is not larger. */
function containsNetwork(network: Value, other: Value): Value {
  const outer = network as NetworkValue;
  const inner = other as NetworkValue;
  return outer.bits <= inner.bits && sharesPrefix(outer.address.bytes, inner.address.bytes, outer.bits);
}

function sharesPrefix(a: readonly number[], b: readonly number[], bits: number): boolean {
  if (a.length !== b.length) return false;
  return maskIpBytes(a, bits).every((byte, index) => byte === maskIpBytes(b, bits)[index]);
}

function masked({ address, bits }: NetworkValue): Value {
  return new NetworkValue({ ...address, bytes: maskIpBytes(address.bytes, bits) }, bits);
}
