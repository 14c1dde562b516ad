import { controllerEnv } from '../../controller/config.ts';
import { logEnv } from '../../lib/log.ts';
import { processEnv } from '../../lib/env.ts';

/** The settings of ours, whose values are of use and no secrets. */
const SETTINGS: ReadonlySet<string> = new Set([
  ...Object.keys(controllerEnv),
  ...Object.keys(processEnv),
  ...Object.keys(logEnv),
]);

const LEFT_OUT = '(left out)';
/** Tokens, and a user in an address. */
const SECRET = /eyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=\b(?:[Bb]earer|[Bb]asic) )[\w+./=~-]+|(?<=:\/\/)[^/@\s"]+(?=@)/g;

/** What may leave the cluster of something that was read there: no values of variables other than our settings, no tokens, and no bookkeeping. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(SECRET, LEFT_OUT);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key]) => key !== 'managedFields' && !key.endsWith('/last-applied-configuration'),
  );
  return Object.fromEntries(entries.map(([key, one]) => [key, key === 'env' ? variables(one) : withoutSecrets(one)]));
}

function variables(env: unknown): unknown {
  if (!Array.isArray(env)) return withoutSecrets(env);
  return (env as { readonly name: string; readonly value?: string }[]).map((one) =>
    one.value === undefined || SETTINGS.has(one.name) ? withoutSecrets(one) : { name: one.name, value: LEFT_OUT },
  );
}
