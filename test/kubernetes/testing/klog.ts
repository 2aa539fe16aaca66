/** The head of a line of klog: severity, date, time, process, and where in the sources. */
const head = /^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ([\w.-]+:\d+)\] (.*)$/;

/** What is different each time. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>'],
  [/127\.0\.0\.1:\d+/g, '<address>'],
  [/resource[vV]ersion="?\d+"?/g, 'resourceVersion=<version>'],
  [/\b\d+(\.\d+)?(ns|µs|ms|s)\b/g, '<duration>'],
];

/** The lines at which something failed, each kind once, without what differs from run to run. */
export function errorsIn(log: string): readonly string[] {
  const errors = log.split('\n').flatMap((line) => {
    const [, severity, place, message = ''] = head.exec(line) ?? [];
    return severity === 'E' || severity === 'F' ? [`${place}] ${masked(message)}`] : [];
  });
  return [...new Set(errors)].sort();
}

function masked(text: string): string {
  return masks.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
}
