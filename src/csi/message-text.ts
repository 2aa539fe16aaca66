import { type DescField, type DescMessage, getOption, type MessageShape } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { csi_secret } from './generated/csi.ts';

/** Key in `volume_context` of the tokens of the pod's service account. They are secret, although csi.proto does not mark them. */
export const accountTokensKey = 'csi.storage.k8s.io/serviceAccount.tokens';

/** Printed instead of a secret, as other CSI programs do. */
const stripped = '***stripped***';

/** A longer text is cut: replies that list volumes can have megabytes. */
const textLengthMax = 4096;

/** Shorter values appear in any text, and protect nothing. */
const secretLengthMin = 4;

/** A message as JSON for logs, with csi.proto's field names. Fields that csi.proto marks as secret are replaced, at any depth. */
export function messageText<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string {
  const text = JSON.stringify(plainMessage(reflect(schema, message)));
  return text.length <= textLengthMax
    ? text
    : `${text.slice(0, textLengthMax)}... (${text.length} characters)`;
}

/** Removes the secrets of a request from a text that its receiver wrote, such as an error that quotes a password. */
export function withoutSecretsOf<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
  text: string,
): string {
  const longestFirst = secretValues(reflect(schema, message)).sort((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, secret) => rest.replaceAll(secret, stripped), text);
}

function secretValues(message: ReflectMessage): string[] {
  return setFields(message).flatMap((field) =>
    isSecret(field)
      ? texts(plainValue(message, field)).filter((text) => text.length >= secretLengthMin)
      : [...accountTokens(message, field), ...nestedMessages(message, field).flatMap(secretValues)],
  );
}

/** The tokens themselves, and the text that contains them. */
function accountTokens(message: ReflectMessage, field: DescField): string[] {
  if (field.fieldKind !== 'map') return [];
  const text = message.get(field).get(accountTokensKey);
  if (typeof text !== 'string') return [];
  try {
    const byAudience = Object.values(JSON.parse(text) as Record<string, { readonly token?: unknown } | null>);
    const tokens = byAudience.flatMap((status) => texts(status?.token));
    return [text, ...tokens.filter((token) => token.length >= secretLengthMin)];
  } catch {
    return [text];
  }
}

/** All strings in a plain value; the keys of a map of secrets are names, and no secrets. */
function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
}

function plainMessage(message: ReflectMessage): Record<string, unknown> {
  return Object.fromEntries(
    setFields(message).map((field) => [field.name, isSecret(field) ? stripped : plainValue(message, field)]),
  );
}

function setFields(message: ReflectMessage): DescField[] {
  return message.fields.filter((field) => message.isSet(field));
}

function isSecret(field: DescField): boolean {
  return getOption(field, csi_secret);
}

function plainValue(message: ReflectMessage, field: DescField): unknown {
  switch (field.fieldKind) {
    case 'list':
      return [...message.get(field)].map((item) => plainItem(item, field));
    case 'map':
      return Object.fromEntries(
        [...message.get(field)].map(([key, item]) => [
          key,
          key === accountTokensKey ? stripped : plainItem(item, field),
        ]),
      );
    case 'message':
      return plainMessage(message.get(field));
    default:
      return plainItem(message.get(field), field);
  }
}

/** One value of a field: of the field itself, or of its list or map. */
function plainItem(value: unknown, { enum: type }: DescField): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === 'number') return type?.value[value]?.name ?? value;
  return isReflectMessage(value) ? plainMessage(value) : value;
}

function nestedMessages(message: ReflectMessage, field: DescField): ReflectMessage[] {
  switch (field.fieldKind) {
    case 'list':
      return [...message.get(field)].filter(isReflectMessage);
    case 'map':
      return [...message.get(field)].map(([, item]) => item).filter(isReflectMessage);
    case 'message':
      return [message.get(field)];
    default:
      return [];
  }
}

function isReflectMessage(value: unknown): value is ReflectMessage {
  return typeof value === 'object' && value !== null && 'desc' in value && 'fields' in value;
}
