import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connect } from '../../kube/kubeconfig.ts';
import { userAgent } from '../../kube/https.ts';
import { systemClock } from '../../lib/clock.ts';
import { describeEnv, processEnv, readEnv } from '../../lib/env.ts';
import { VERSION } from '../../lib/version.ts';
import { NAMESPACE } from '../../shadow/names.ts';
import { fleetLines, leftoverLines, nodeLine, policyLines, unreadLines } from './lines.ts';
import { inspect } from './inspect.ts';

/** The variables that say where the cluster is. */
const { TERMINATION_LOG: _, ...access } = processEnv;

const HELP = `Says why each node is, or is not, being updated, and how each update policy does: from the cluster alone, no controller need run.

Usage: why [NODE] [--leftovers] [--namespace NAME] [--kubeconfig FILE] [--context NAME] | --help | --version

  NODE               only this node, and the update policy that rules it
  --leftovers        what the operator has left on nodes where no update runs
  --namespace NAME   the operator's namespace; by default ${NAMESPACE}
  --kubeconfig FILE  by default $KUBECONFIG, else ~/.kube/config, else the pod's service account
  --context NAME     of the kubeconfig; by default its current one

Environment:
${describeEnv(access)}
`;

interface Output {
  readonly lines: readonly string[];
  readonly exitCode: 0 | 1 | 2;
}

async function answer(args: readonly string[]): Promise<Output> {
  const text = { type: 'string', default: '' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { help: flag, version: flag };
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      leftovers: flag,
      namespace: { type: 'string', default: NAMESPACE },
      kubeconfig: text,
      context: { type: 'string' },
      ...options,
    },
    allowPositionals: true,
  });
  if (values.help) return { lines: [HELP.trimEnd()], exitCode: 0 };
  if (values.version) return { lines: [`brupop-why ${VERSION}`], exitCode: 0 };
  const [node, ...more] = positionals;
  if (more.length > 0) return { lines: ['expected one node at most, see --help'], exitCode: 2 };
  const { transport } = await connect({ ...settings(values.kubeconfig), context: values.context }, userAgent('why'));
  const seen = await inspect({ transport, namespace: values.namespace }, systemClock.now());
  if (values.leftovers) return { lines: leftoverLines(seen), exitCode: 0 };
  if (node === undefined) return { lines: fleetLines(seen), exitCode: 0 };
  const line = nodeLine(seen, node);
  return line === undefined
    ? { lines: [`the cluster has no node ${node}`], exitCode: 1 }
    : { lines: [...unreadLines(seen), ...policyLines(seen, node), line], exitCode: 0 };
}

function settings(kubeconfig: string) {
  const env = readEnv(processEnv, process.env);
  const usual = join(homedir(), '.kube', 'config');
  return { ...env, KUBECONFIG: kubeconfig || env.KUBECONFIG || (existsSync(usual) ? usual : '') };
}

try {
  const { lines, exitCode } = await answer(process.argv.slice(2));
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  process.exitCode = exitCode;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n`);
  process.exitCode = 1;
}
