import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AccessError } from '../kube/access.ts';
import { userAgent } from '../kube/https.ts';
import { connect } from '../kube/kubeconfig.ts';
import { proxyFromEnvironment } from '../kube/proxy.ts';
import { processEnv, readEnv } from '../lib/env.ts';
import { durationMs } from '../api/policy/duration.ts';
import { NAMESPACE } from '../api/shadow/names.ts';
import { clear } from './commands/clear.ts';
import { cleanup } from './commands/cleanup.ts';
import { allow, halt } from './commands/halt.ts';
import { hold, unhold } from './commands/hold.ts';
import { notify } from './commands/notify.ts';
import { pause, resume } from './commands/pause.ts';
import { now, retry } from './commands/now.ts';
import { type Invocation, parseUnfinished, parseInvocation } from './arguments.ts';
import {
  type Cluster,
  type Command,
  EXIT,
  type ExitCode,
  type CommandRequest,
  type ProgramContext,
  optionValues,
  UsageError,
  type Values,
} from './command.ts';
import { completionOf, completionText, lookupIn } from './completion.ts';
import { dashboard } from './commands/dashboard.ts';
import { doctor } from './commands/doctor.ts';
import { explain, rolesFor } from './errors.ts';
import { planCommand } from './commands/plan.ts';
import { commandHelp, helpText, NAME, versionText } from './help.ts';
import { leftovers } from './commands/leftovers.ts';
import { webhookNamespace } from './operator.ts';
import { textOf } from './output/output.ts';
import { history, timeline } from './commands/timeline.ts';
import { releases } from './commands/releases.ts';
import { status } from './commands/status.ts';
import { wait } from './commands/wait.ts';
import { watch } from './output/watch.ts';
import { why } from './commands/why.ts';

/** In the order of `--help`. */
export const COMMANDS: readonly Command[] = [
  status,
  wait,
  dashboard,
  why,
  timeline,
  history,
  releases,
  leftovers,
  planCommand,
  pause,
  resume,
  hold,
  unhold,
  now,
  retry,
  halt,
  allow,
  clear,
  cleanup,
  notify,
  doctor,
];

/** Runs one command line. @returns the exit code */
export async function runProgram(context: ProgramContext): Promise<ExitCode> {
  try {
    const [first, ...words] = context.args;
    if (first === COMPLETE) return await complete(words, context);
    const invocation = parseInvocation(context.args, COMMANDS);
    if (invocation.kind === 'run') return await execute(invocation, context);
    context.out(
      invocation.kind === 'version'
        ? versionText
        : invocation.command
          ? commandHelp(invocation.command)
          : helpText(COMMANDS),
    );
    return EXIT.ok;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const advice = isUsage ? `${NAME} --help lists commands and options.` : rolesFor(error);
    context.err(`${[explain(error), advice].filter(Boolean).join('\n')}\n`);
    return isUsage ? EXIT.usage : EXIT.failed;
  }
}

/** The first argument in the name of `kubectl_complete-brupop`. The words of the shell follow it. */
export const COMPLETE = '__complete';

async function complete(words: readonly string[], context: ProgramContext): Promise<ExitCode> {
  const lookup = lookupIn(() => connectionFor({ values: parseUnfinished(words) }, context));
  context.out(completionText(await completionOf(words, COMMANDS, lookup)));
  return EXIT.ok;
}

async function execute(invocation: Invocation, context: ProgramContext): Promise<ExitCode> {
  const { command, names, values, format } = invocation;
  let cluster: Promise<Cluster> | undefined;
  const request: CommandRequest = {
    names,
    values,
    clock: context.clock,
    user: context.env['USER'] || context.env['LOGNAME'] || context.env['USERNAME'] || 'somebody',
    connect: () => (cluster ??= clusterFor(invocation, context)),
    progress: (text) => context.progress(text),
  };
  if (values['watch']) return watch({ invocation, request, context });
  const answer = await command.run(request).finally(() => context.progress(''));
  context.out(textOf(answer, format, context.terminal()));
  await answer.continues?.(context.signal);
  return answer.exitCode ?? EXIT.ok;
}

async function clusterFor(invocation: Invocation, context: ProgramContext): Promise<Cluster> {
  const connection = await connectionFor(invocation, context);
  const given = invocation.values['namespace'] as string | undefined;
  return { ...connection, namespace: given ?? (await webhookNamespace(connection.transport)) ?? NAMESPACE };
}

function timeoutOf({ 'request-timeout': text }: Values): number | undefined {
  if (text === undefined) return undefined;
  const timeout = durationMs(/^\d+$/.test(String(text)) ? `${String(text)}s` : String(text));
  if (timeout === undefined)
    throw new UsageError(`--request-timeout: expected a duration like 5s, got ${String(text)}`);
  // As kubectl has it, 0 is no limit.
  return timeout === 0 ? undefined : timeout;
}

async function connectionFor(
  { values }: Pick<Invocation, 'values'>,
  { env, home }: ProgramContext,
): Promise<Omit<Cluster, 'namespace'>> {
  const { kubeconfig, context, as: user } = values as Readonly<Record<string, string | undefined>>;
  const timeoutMs = timeoutOf(values);
  const groups = optionValues(values, 'as-group');
  if (user === undefined && groups.length > 0) throw new UsageError('--as-group: expected --as besides');
  const read = readEnv(processEnv, env);
  const usual = join(home, '.kube', 'config');
  const paths = kubeconfig || read.KUBECONFIG || (existsSync(usual) ? usual : '');
  if (paths === '' && !existsSync(read.SERVICE_ACCOUNT_DIR))
    throw new AccessError(`there is no kubeconfig: write ${usual}, or name another by KUBECONFIG or --kubeconfig`);
  const as = user === undefined ? undefined : { user, groups };
  const proxyFor = (server: string) => proxyFromEnvironment(server, env);
  const config = { ...read, KUBECONFIG: paths, context, as, proxyFor };
  const options = { userAgent: userAgent('kubectl'), gzip: true, ...(timeoutMs !== undefined && { timeoutMs }) };
  const connection = await connect(config, options);
  return { transport: connection.transport, context: connection.context };
}
