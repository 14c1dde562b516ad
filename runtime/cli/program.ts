import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AccessError } from '../kube/access.ts';
import { userAgent } from '../kube/https.ts';
import { connect, contextsOf } from '../kube/kubeconfig.ts';
import { nodesOf } from '../kube/resources.ts';
import { proxyFromEnvironment } from '../kube/proxy.ts';
import { processEnv, readEnv } from '../lib/env.ts';
import { NAMESPACE } from '../api/shadow/names.ts';
import { clear } from './commands/clear.ts';
import { cleanup } from './commands/cleanup.ts';
import { approve } from './commands/approve.ts';
import { expedite } from './commands/expedite.ts';
import { allow, halt } from './commands/halt.ts';
import { hold, unhold } from './commands/hold.ts';
import { notify } from './commands/notify.ts';
import { pause, resume } from './commands/pause.ts';
import { now, retry } from './commands/now.ts';
import { impersonatedIn } from './as-groups.ts';
import { type Invocation, parseUnfinished, parseInvocation } from './arguments.ts';
import {
  type Cluster,
  type Command,
  EXIT,
  type ExitCode,
  type CommandRequest,
  type ProgramContext,
  durationOf,
  optionValues,
  RefusedCommandError,
  UsageError,
  type Values,
} from './command.ts';
import { completionOf, completionText, lookupIn } from './completion.ts';
import { dashboard } from './commands/dashboard.ts';
import { doctor } from './commands/doctor.ts';
import { explain, rolesFor } from './errors.ts';
import { planCommand } from './commands/plan.ts';
import { commandHelp, helpText, NAME, versionText } from './help.ts';
import { logs } from './commands/logs.ts';
import { leftovers } from './commands/leftovers.ts';
import { webhookNamespace } from './operator.ts';
import { textOf } from './output/output.ts';
import { history, timeline } from './commands/timeline.ts';
import { releases } from './commands/releases.ts';
import { rollback } from './commands/rollback.ts';
import { report } from './commands/report.ts';
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
  logs,
  report,
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
  approve,
  expedite,
  rollback,
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
  const values = parseUnfinished(words);
  const contexts = () => contextsOf(kubeconfigOf(values, context));
  const lookup = lookupIn(() => connectionFor({ values }, context), contexts);
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
  const answer = await command.run(await withSelected(request)).finally(() => context.progress(''));
  context.out(textOf(answer, format, context.terminal()));
  await answer.continues?.(context.signal);
  return answer.exitCode ?? EXIT.ok;
}

/** The nodes with the labels that `-l` gives, as if they were named. */
async function withSelected(request: CommandRequest): Promise<CommandRequest> {
  const { selector } = request.values;
  if (selector === undefined) return request;
  const { transport } = await request.connect();
  const nodes = await nodesOf(transport).list({ labelSelector: String(selector) });
  if (nodes.length === 0) throw new RefusedCommandError(`no node has the labels ${String(selector)}`);
  return { ...request, names: nodes.map(({ metadata }) => metadata.name) };
}

async function clusterFor(invocation: Invocation, context: ProgramContext): Promise<Cluster> {
  const connection = await connectionFor(invocation, context);
  const given = invocation.values['namespace'] as string | undefined;
  return { ...connection, namespace: given ?? (await webhookNamespace(connection.transport)) ?? NAMESPACE };
}

function timeoutOf({ 'request-timeout': text }: Values): number | undefined {
  if (text === undefined) return undefined;
  // As kubectl has it, a number alone is seconds, and 0 is its default. That is no limit there, and one here.
  const timeout = durationOf('request-timeout', String(text).replace(/^\d+$/, '$&s'), '5s');
  return timeout === 0 ? undefined : timeout;
}

/** Paths of kubeconfigs; empty where there is none. */
function kubeconfigOf({ kubeconfig }: Values, { env, home }: ProgramContext): string {
  const usual = join(home, '.kube', 'config');
  return (kubeconfig as string | undefined) || env['KUBECONFIG'] || (existsSync(usual) ? usual : '');
}

async function connectionFor(
  { values }: Pick<Invocation, 'values'>,
  program: ProgramContext,
): Promise<Omit<Cluster, 'namespace'>> {
  const { env, home } = program;
  const { context, as: user, server, token } = values as Readonly<Record<string, string | undefined>>;
  const timeoutMs = timeoutOf(values);
  const groups = optionValues(values, 'as-group');
  if (user === undefined && groups.length > 0) throw new UsageError('--as-group: expected --as besides');
  const read = readEnv(processEnv, env);
  const paths = kubeconfigOf(values, program);
  if (paths === '' && !existsSync(read.SERVICE_ACCOUNT_DIR))
    throw new AccessError(
      `there is no kubeconfig: write ${join(home, '.kube', 'config')}, or name another by KUBECONFIG or --kubeconfig`,
    );
  const as = user === undefined ? impersonatedIn(paths, context) : { user, groups };
  const proxyFor = (address: string) => proxyFromEnvironment(address, env);
  const config = { ...read, KUBECONFIG: paths, context, as, server, token, proxyFor };
  const options = { userAgent: userAgent('kubectl'), gzip: true, ...(timeoutMs !== undefined && { timeoutMs }) };
  const connection = await connect(config, options);
  return { transport: connection.transport, context: connection.context };
}
