/** The parsers of texts that a client, a server or the author of a file controls, with tokens and samples of their languages. */
import { compileExpression } from '../../dist/apiserver/cel/program.js';
import { types } from '../../dist/apiserver/cel/types/types.js';
import { compilePattern } from '../../dist/apiserver/cel/values/patterns.js';
import { parseJsonPath } from '../../dist/apiserver/custom/json-path.js';
import { cronScheduleProblem } from '../../dist/apiserver/kinds/batch/cron-schedule.js';
import { readIndexes } from '../../dist/apiserver/kinds/batch/job-indexes.js';
import { parseFieldSet } from '../../dist/apiserver/managed-fields/field-set.js';
import { applyJsonPatch } from '../../dist/apiserver/patch/json-patch.js';
import { applyMergePatch } from '../../dist/apiserver/patch/merge-patch.js';
import { applyStrategicMergePatch } from '../../dist/apiserver/patch/strategic-merge-patch.js';
import { shapeOfType } from '../../dist/apiserver/patch/type-shapes.js';
import { decodeContinue } from '../../dist/apiserver/registry/reads/continue-token.js';
import { parseFieldSelector } from '../../dist/apiserver/registry/selection/field-selector-text.js';
import { parseLabelSelector } from '../../dist/apiserver/registry/selection/label-selector-text.js';
import { decodeBody } from '../../dist/apiserver/schema/decode.js';
import { readJson } from '../../dist/apiserver/schema/json-reader.js';
import { readListOptions } from '../../dist/apiserver/server/requests/list-options.js';
import { parseAccept } from '../../dist/apiserver/server/responses/negotiation.js';
import { formatRule } from '../../dist/apiserver/structural/formats/formats.js';
import * as names from '../../dist/apiserver/validation/names.js';
import { redactedText } from '../../dist/cli/bundle/redaction/redact-text.js';
import { parseDeviceList } from '../../dist/drives/devices/device-list-file.js';
import { parseDeviceMounts } from '../../dist/drives/devices/mounted-devices.js';
import { readPreferredNodes } from '../../dist/engine/records/preferred-nodes.js';
import { readYaml } from '../../dist/io/yaml/yaml-reader.js';
import { parseGoDuration } from '../../dist/kube/go/duration.js';
import { parseGoFloat } from '../../dist/kube/go/numbers.js';
import { parseRfc3339 } from '../../dist/kube/go/rfc3339.js';
import { parseCidr, parseIpAddress } from '../../dist/kube/ip-address.js';
import { parseQuantity } from '../../dist/kube/quantities/quantity.js';
import { parseUrl } from '../../dist/kube/url.js';
import { withoutPasswords } from '../../dist/runtime/printable-text.js';
import { documentsOf } from '../../dist/state/read-manifests.js';

/** `\u0001` becomes the number of the repetition. */
const yamlTokens = [
  ...[
    '\n',
    '\n  ',
    '\n - ',
    '  ',
    ' ',
    '\t',
    '\r\n',
    '\r',
    '- ',
    '? ',
    ': ',
    ':',
    'a',
    '\u0001',
    'k\u0001: ',
  ],
  ...[', ', ',', '[', ']', '{', '}', '"', "'", "''", '\\', '\\z', '\\n', '\\"', '\\x4', '\\u00e', '|', '>'],
  ...[
    '|\n',
    '>-\n  ',
    '|+\n',
    '# c\n',
    ' #',
    '#',
    '&a ',
    '*a',
    '&a\u0001 ',
    '*a\u0001 ',
    '!',
    '!!str ',
    '!<',
  ],
  ...[
    '!a!b ',
    '%TAG ! x\n',
    '%TAG !\u0001! x\n',
    '%YAML 1.1\n',
    '%',
    '---\n',
    '...\n',
    '--- ',
    '<<: ',
    '~',
    '0',
  ],
  ...[
    '0x',
    '1e',
    '.',
    '_',
    '1_',
    '\ufeff',
    '\u2028',
    '\u0085',
    'é',
    '\u{1f600}',
    '@',
    '`',
    '=',
    '\0',
    '\n\n',
  ],
];
const yamlSamples = [
  'a: "x"\nb: \'y\'\nc:\n- 1\n- {d: e, f: [g, h]}\ni: |\n  text\n  more\nj: >-\n  folded\n\n  text\n',
  'a: &x {b: 1}\nc: *x\nd: {<<: *x}\n? e\n: f\n# comment\n"g": !!str 1\n---\nh: 2\n...\n',
  '%YAML 1.1\n%TAG ! tag:x,2000:\n---\n- a b\n  c\n- "d\n  e\\\n  f"\n- \'g\n\n  h\'\n',
];
const jsonTokens = [
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\',
    '\\u00e9',
    '\\ud800',
    '\\"',
    ' ',
    '\n',
    '1',
    '-',
    '.',
    'e',
    'E+',
    '0',
  ],
  ...[
    'true',
    'null',
    '"a"',
    '"k\u0001":',
    '{"a":',
    '[[',
    '1,',
    '"a":1,',
    '\u0001',
    'é',
    '\0',
    '/',
    '~1',
    '~0',
    '-',
  ],
];
const jsonSamples = [
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"b":"c"}},"spec":{"containers":[{"name":"d","env":[{"name":"e"}]}]}}',
  '{"a":[1,-2.5e3,"\\u00e9\\n",true,null,{}],"b":{"c":[[],[{}]]}}',
];
const wordTokens = [
  ...[
    'a',
    'A',
    '0',
    '9',
    '-',
    '.',
    '_',
    '/',
    ':',
    '::',
    '@',
    '%',
    '%41',
    ' ',
    '\t',
    ',',
    ';',
    '=',
    '!=',
    '==',
    '!',
    '(',
    ')',
  ],
  ...[
    'in',
    'notin',
    ' in (',
    '<',
    '>',
    '"',
    "'",
    '\\',
    '+',
    '*',
    '?',
    '[',
    ']',
    '{',
    '}',
    '$',
    '^',
    '|',
    '&',
    '#',
    '~',
  ],
  ...['\u0001', 'é', '\0', '1.', '1e', 'Ki', 'ms', 'h', 'T', 'Z', '00:', 'q=', 'a=b,', '://', '..'],
];

const podShape = shapeOfType('core/v1.Pod');
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'd' }] } };

function yamlParser(name, parse) {
  return { name, tokens: yamlTokens, samples: yamlSamples, parse };
}

function jsonParser(name, parse, samples = jsonSamples) {
  return { name, tokens: jsonTokens, samples, parse };
}

function wordParser(name, samples, parse) {
  return { name, tokens: wordTokens, samples, parse };
}

function bodyOf(contentType, bytes) {
  return {
    bytes,
    contentType,
    expected: { group: '', version: 'v1', kind: 'Pod', type: 'core/v1.Pod' },
    fieldValidation: 'Strict',
  };
}

const formats = [
  'bsonobjectid',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'isbn',
  'isbn10',
  'isbn13',
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'byte',
  'date',
  'duration',
  'datetime',
  'date-time',
];

const celScope = { variables: new Map([['self', types.string]]), fieldsOf: () => undefined };

export const parsers = [
  yamlParser('YAML', readYaml),
  yamlParser('YAML requests', (text) => decodeBody(bodyOf('application/yaml', Buffer.from(text)))),
  yamlParser('manifests', (text) => documentsOf(text, 'file')),
  yamlParser('device lists', parseDeviceList),
  jsonParser('JSON', (text) => readJson(Buffer.from(text))),
  jsonParser('JSON requests', (text) => decodeBody(bodyOf('application/json', Buffer.from(text)))),
  jsonParser('JSON patches', (text) => applyJsonPatch(pod, readJson(text).value), [
    '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}},{"op":"copy","from":"/metadata","path":"/spec/x"},{"op":"add","path":"/spec/containers/-","value":1},{"op":"add","path":"/spec/containers/0","value":{}},{"op":"remove","path":"/spec/containers/0"}]',
  ]),
  jsonParser('merge patches', (text) => applyMergePatch(pod, readJson(text).value)),
  jsonParser('strategic merge patches', (text) =>
    applyStrategicMergePatch(pod, readJson(text).value, podShape),
  ),
  jsonParser('managed fields', (text) => parseFieldSet(readJson(text).value), [
    '{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"k:{\\"name\\":\\"a\\"}":{".":{}},"v:1":{},"i:0":{}}}',
  ]),
  jsonParser('preferred nodes', (text) => readPreferredNodes(text, [])),
  wordParser(
    'protobuf requests',
    ['k8s\0\n\u0007\n\u0002v1\u0012\u0003Pod\u0012\u0005\n\u0003\n\u0001a\u001a\0"\0'],
    (text) => decodeBody(bodyOf('application/vnd.kubernetes.protobuf', Buffer.from(text, 'latin1'))),
  ),
  wordParser(
    'label selectors',
    ['app=web,tier notin (cache,db),!canary,x in (a, b),y!=z,n>1'],
    parseLabelSelector,
  ),
  wordParser(
    'field selectors',
    ['metadata.name=a,status.phase!=Running,spec.x==a\\,b\\=c'],
    parseFieldSelector,
  ),
  wordParser(
    'list options',
    ['labelSelector=a%3Db&limit=5&continue=x&timeoutSeconds=1&resourceVersion=7'],
    (text) => readListOptions(new URLSearchParams(text), 'default', false),
  ),
  wordParser('continue tokens', ['eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJhIn0'], decodeContinue),
  wordParser(
    'Accept headers',
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json;q=0.9, */*'],
    parseAccept,
  ),
  wordParser('quantities', ['1', '1.5Gi', '100m', '1e3', '-0.00001k', '12E'], parseQuantity),
  wordParser('durations', ['1h30m5.5s', '-1.5us', '300ms'], parseGoDuration),
  wordParser('floats', ['1.5e10', '0x1p-2', '1_000', 'Inf'], parseGoFloat),
  wordParser('times', ['2024-01-02T03:04:05.678901234+01:00', '2024-02-29T00:00:00Z'], parseRfc3339),
  wordParser('addresses', ['10.0.0.1', 'fe80::1%eth0', '::ffff:1.2.3.4', '10.0.0.0/8'], (text) => [
    parseIpAddress(text),
    parseCidr(text),
  ]),
  wordParser('URLs', ['https://user:pass@host.example:443/a/b?c=d#e', 'http://[::1]:80/%41'], (text) => [
    parseUrl(text, false),
    parseUrl(text, true),
  ]),
  wordParser('JSONPaths', ['.spec.containers[*].name', ".a['b'].c[0:2]", '.a[?(@.b=="c")].d'], parseJsonPath),
  wordParser(
    'schedules',
    ['*/5 0-3,7 * JAN-DEC MON', '@every 1h30m', 'TZ=UTC 0 0 * * *'],
    cronScheduleProblem,
  ),
  wordParser('job indexes', ['0-3,5,7-9'], (text) => readIndexes(text, 100_000)),
  wordParser('names', ['a-b.example.com/c_d', '*.example.com', 'a', '50%'], (text) =>
    Object.entries(names).map(([name, rule]) => name.endsWith('Problems') && rule(text)),
  ),
  wordParser(
    'formats',
    ['a@b.example', '2024-01-02', '00:1a:2b:3c:4d:5e', 'rgb(1,2,3)', '978-3-16-148410-0', '1h'],
    (text) => formats.map((format) => formatRule(format)?.(text)),
  ),
  wordParser(
    'regular expressions',
    ['^[a-z]+(-[0-9]{1,3})*$', '(?i:a|b)\\d\\pL', 'a{2,5}?(?P<n>x)'],
    compilePattern,
  ),
  wordParser(
    'CEL expressions',
    [
      "self.matches('^a+$') && self.size() < 5 || [1, 2].exists(x, x in [3])",
      '"a\\n" + b\'c\' == r"d" ? {1: 2}[1] : -3.0e5',
      'a.b.c(1u, 0x5).map(x, y)',
    ],
    (text) => compileExpression(text, celScope),
  ),
  wordParser(
    'redaction',
    [
      'password: hunter2 token="abc" https://u:p@h/ -----BEGIN KEY-----\nabc\n-----END KEY-----\neyJhbGciOi.eyJ.abc',
    ],
    (text) => [redactedText(text), withoutPasswords(text)],
  ),
  wordParser('mounts', ['/dev/sda1 /mnt ext4 rw,relatime 0 0\n'], parseDeviceMounts),
];
