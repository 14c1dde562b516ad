import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import type { UpdatePolicyObject } from '../../kube/objects.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../../policy/names.ts';
import { UsageError } from '../command.ts';
import type { Changes } from '../inspect.ts';

/** What is to be assumed instead of what the cluster has: policies out of files, and settings of the controller. */
export async function changesOf(files: readonly string[], settings: readonly string[]): Promise<Changes> {
  const policies = (await Promise.all(files.map(policiesIn))).flat();
  return { policies, settings: Object.fromEntries(settings.map(settingOf)) };
}

function settingOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--set: expected VARIABLE=VALUE, got ${text}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

async function policiesIn(file: string): Promise<readonly UpdatePolicyObject[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`-f: cannot read ${file}`, { cause });
  });
  const documents = parseAllDocuments(text);
  return [...documents].flatMap((document) => {
    const [error] = document.errors;
    if (error) throw new UsageError(`${file}: ${error.message}`);
    const object = document.toJS() as unknown;
    return object === null ? [] : [policyOf(object, file)];
  });
}

/** Its spec is judged as that of any other policy, by the plan. */
function policyOf(object: unknown, file: string): UpdatePolicyObject {
  const { apiVersion, kind, metadata, spec } = (object ?? {}) as Partial<UpdatePolicyObject>;
  if (apiVersion !== POLICY_API_VERSION || kind !== POLICY_KIND)
    throw new UsageError(`${file}: expected ${POLICY_API_VERSION} ${POLICY_KIND}, got ${apiVersion} ${kind}`);
  const name: unknown = metadata?.name;
  if (typeof name !== 'string' || name === '') throw new UsageError(`${file}: expected a policy with a name`);
  return { apiVersion, kind, metadata: { name, uid: `planned-${name}`, resourceVersion: '0', generation: 1 }, spec };
}
