import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AccessError } from '../kube/access.ts';
import { userAgent } from '../kube/https.ts';
import { connect } from '../kube/kubeconfig.ts';
import { proxyFromEnvironment } from '../kube/proxy.ts';
import type { Clock } from '../lib/clock.ts';
import { processEnv, readEnv } from '../lib/env.ts';
import { NAMESPACE } from '../shadow/names.ts';
import { hold, unhold } from './acting/hold.ts';
import { notify } from './acting/notify.ts';
import { pause, resume } from './acting/pause.ts';
import { release } from './acting/release.ts';
import { now, retry } from './acting/requests.ts';
import { type Asked, givenIn, parsed } from './arguments.ts';
import { type Cluster, type Command, EXIT, type ExitCode, type Request, textsOf, UsageError } from './command.ts';
import { completionOf, completionText, lookupIn } from './completion.ts';
import { dashboard } from './dashboard/command.ts';
import { doctor } from './doctor/command.ts';
import { explained, rolesFor } from './errors.ts';
import { planCommand } from './forecast/command.ts';
import { commandHelp, helpText, NAME, versionText } from './help.ts';
import { leftovers } from './leftovers.ts';
import type { Look } from './look.ts';
import { textOf } from './output.ts';
import { history, timeline } from './past/commands.ts';
import { status } from './status/command.ts';
import { watching } from './watch.ts';
import { why } from './why.ts';

/** In the order of `--help`. */
export const COMMANDS: readonly Command[] = [
  status,
  dashboard,
  why,
  timeline,
  history,
  leftovers,
  planCommand,
  pause,
  resume,
  hold,
  unhold,
  now,
  retry,
  release,
  notify,
  doctor,
];

/** What the program may use of its surroundings. */
export interface Surroundings {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of the user. */
  readonly home: string;
  readonly clock: Clock;
  /** Aborts when it is to end. */
  readonly signal: AbortSignal;
  /** Asked anew each time: a terminal changes its size. */
  look(): Look;
  out(text: string): void;
  err(text: string): void;
  /** Takes the place of what was shown before, on a terminal; elsewhere it comes after it. */
  redraw(text: string): void;
}

/** From arguments to exit code. */
export async function runProgram(world: Surroundings): Promise<ExitCode> {
  try {
    const [first, ...words] = world.args;
    if (first === COMPLETE) return await completed(words, world);
    const asked = parsed(world.args, COMMANDS);
    if (asked.kind === 'run') return await carriedOut(asked, world);
    world.out(asked.kind === 'version' ? versionText : asked.command ? commandHelp(asked.command) : helpText(COMMANDS));
    return EXIT.ok;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    world.err(`${explained(error)}\n${isUsage ? `${NAME} --help lists commands and options.\n` : rolesFor(error)}`);
    return isUsage ? EXIT.usage : EXIT.failed;
  }
}

/** What `kubectl_complete-brupop` puts before the words that a shell has. */
export const COMPLETE = '__complete';

async function completed(words: readonly string[], world: Surroundings): Promise<ExitCode> {
  const lookup = lookupIn(() => clusterFor({ values: givenIn(words) }, world));
  world.out(completionText(await completionOf(words, COMMANDS, lookup)));
  return EXIT.ok;
}

async function carriedOut(asked: Asked, world: Surroundings): Promise<ExitCode> {
  const { command, names, values, format } = asked;
  let cluster: Promise<Cluster> | undefined;
  const request: Request = {
    names,
    values,
    clock: world.clock,
    user: world.env['USER'] || world.env['LOGNAME'] || world.env['USERNAME'] || 'somebody',
    connect: () => (cluster ??= clusterFor(asked, world)),
  };
  if (values['watch']) return watching({ asked, request, world });
  const answer = await command.run(request);
  world.out(textOf(answer, format, world.look()));
  await answer.goesOn?.(world.signal);
  return answer.exitCode ?? EXIT.ok;
}

async function clusterFor({ values }: Pick<Asked, 'values'>, { env, home }: Surroundings): Promise<Cluster> {
  const { kubeconfig, context, namespace, as: user } = values as Readonly<Record<string, string | undefined>>;
  const groups = textsOf(values, 'as-group');
  if (user === undefined && groups.length > 0) throw new UsageError('--as-group: expected --as besides');
  const read = readEnv(processEnv, env);
  const usual = join(home, '.kube', 'config');
  const paths = kubeconfig || read.KUBECONFIG || (existsSync(usual) ? usual : '');
  if (paths === '' && !existsSync(read.SERVICE_ACCOUNT_DIR))
    throw new AccessError(`there is no kubeconfig: write ${usual}, or name another by KUBECONFIG or --kubeconfig`);
  const as = user === undefined ? undefined : { user, groups };
  const proxyFor = (server: string) => proxyFromEnvironment(server, env);
  const config = { ...read, KUBECONFIG: paths, context, as, proxyFor };
  const connection = await connect(config, userAgent('kubectl'));
  return { transport: connection.transport, context: connection.context, namespace: namespace ?? NAMESPACE };
}
