import { stringify } from 'yaml';
import { readYaml, YamlSyntaxError } from '../../../io/yaml/yaml-reader.ts';
import { isRecord, listOf, textOf } from '../../../kube/wire.ts';
import { CliError } from '../../errors/cli-error.ts';
import type { ForgetList, ForgottenDrive, ForgottenObject, ForgottenVolume } from './forget-list.ts';
import { forgetTargetText } from './forget-target.ts';

const header = { apiVersion: 'stowage.dev/forget/v1', kind: 'ForgetList' } as const;

/** The list as a file for review. */
export function forgetFile(list: ForgetList): string {
  const { node, drive, drives } = list;
  const target = forgetTargetText(list);
  const comment = [
    `What is lost with ${drive === undefined ? 'node' : 'drive'} ${target}. stowage drives forget ${target} --list FILE removes the Drive objects below and their entries.`,
    'A claim or PersistentVolume is deleted only where you set delete to "yes". Remove a drive from the list to keep it.',
  ];
  const body = {
    ...header,
    node,
    ...(drive !== undefined && { drive }),
    drives: drives.map((one) => ({
      ...one,
      volumes: one.volumes.map(({ claim, persistentVolume, ...volume }) => ({
        ...volume,
        ...(claim && { claim: written(claim) }),
        ...(persistentVolume && { persistentVolume: written(persistentVolume) }),
      })),
    })),
  };
  const lines = comment.map((line) => `# ${line}\n`).join('');
  return `${lines}${stringify(JSON.parse(JSON.stringify(body)), { lineWidth: 0 })}`;
}

function written({ name, uid, isDeleted }: ForgottenObject): object {
  return { name, uid, delete: isDeleted ? 'yes' : 'no' };
}

/** Parses the file; errors name it and the field. */
export function parseForgetFile(path: string, text: string): ForgetList {
  const value = yamlOf(path, text);
  if (!isRecord(value) || value.kind !== header.kind || value.apiVersion !== header.apiVersion)
    throw new CliError(
      `${path}: kind: must be ForgetList of ${header.apiVersion}; write the file with --output-file`,
    );
  const drives = listOf(value.drives as readonly unknown[]);
  const drive = textOf(value.drive);
  return {
    node: required(path, value, 'node'),
    ...(drive !== '' && { drive }),
    drives: drives.map((one, at) => driveOf(path, one, `drives[${at}]`)),
  };
}

function yamlOf(path: string, text: string): unknown {
  try {
    return readYaml(text).value;
  } catch (error) {
    if (error instanceof YamlSyntaxError)
      throw new CliError(`${path}: ${error.message}`, 1, { cause: error });
    throw error;
  }
}

function driveOf(path: string, value: unknown, field: string): ForgottenDrive {
  const drive = isRecord(value) ? value : {};
  const volumes = listOf(drive.volumes as readonly unknown[]);
  return {
    name: required(path, drive, 'name', field),
    uid: required(path, drive, 'uid', field),
    volumes: volumes.map((one, at) => volumeOf(path, one, `${field}.volumes[${at}]`)),
  };
}

function volumeOf(path: string, value: unknown, field: string): ForgottenVolume {
  const volume = isRecord(value) ? value : {};
  return {
    name: required(path, volume, 'name', field),
    sizeBytes: Number(volume.sizeBytes ?? 0),
    advice: textOf(volume.advice),
    claim: objectIn(path, volume.claim, `${field}.claim`),
    persistentVolume: objectIn(path, volume.persistentVolume, `${field}.persistentVolume`),
  };
}

function objectIn(path: string, value: unknown, field: string): ForgottenObject | undefined {
  if (!isRecord(value)) return undefined;
  const { delete: asked } = value;
  const isDeleted = asked === true || asked === 'yes';
  if (!isDeleted && asked !== false && asked !== 'no')
    throw new CliError(`${path}: ${field}.delete: must be "yes" or "no"`);
  return { name: required(path, value, 'name', field), uid: required(path, value, 'uid', field), isDeleted };
}

function required(path: string, value: Readonly<Record<string, unknown>>, key: string, field = ''): string {
  const text = textOf(value[key]);
  if (text === '') throw new CliError(`${path}: ${field === '' ? key : `${field}.${key}`}: is required`);
  return text;
}
