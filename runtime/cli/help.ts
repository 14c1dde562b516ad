import { describeEnv, processEnv } from '../lib/env.ts';
import { VERSION } from '../lib/version.ts';
import { COMMON } from './arguments.ts';
import { type Command, EXIT, type Options } from './command.ts';
import { manualLines } from './manual.ts';

export const NAME = 'kubectl brupop';

export const versionText = `kubectl-brupop ${VERSION}\n`;

/** The variables by which the program finds the cluster. */
const { TERMINATION_LOG: _, ...access } = processEnv;

export function helpText(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name, args }) => name.length + args.length + 1));
  const lines = commands.map(({ name, args, summary }) => `  ${`${name} ${args}`.padEnd(width)}  ${summary}`);
  return `Shows and steers the updates of Bottlerocket nodes, with your own kubeconfig and rights.

Usage: ${NAME} COMMAND [OPTION]...

${lines.join('\n')}

Options of every command:
${optionLines(COMMON)}

${NAME} COMMAND --help prints the options of a command, ${NAME} --version the version.

Exit codes: ${EXIT.ok} done, ${EXIT.failed} no answer or refused, ${EXIT.usage} wrong arguments${findings(commands)}.

Environment:
${describeEnv(access)}
  HTTPS_PROXY, NO_PROXY
      the proxy to the cluster, and hosts that need no proxy, as for kubectl; a proxy-url in the kubeconfig wins
  NO_COLOR
      if set, the output has no colours; only a terminal gets them
`;
}

function findings(commands: readonly Command[]): string {
  return commands.some(({ name }) => name === 'doctor')
    ? `, ${EXIT.found} something needs you (doctor, status --exit-code), ${EXIT.unfinished} updates wait or run (status --exit-code)`
    : '';
}

export function commandHelp({ name, args, summary, details, options }: Command): string {
  const own = Object.keys(options).length > 0 ? `${optionLines(options)}\n` : '';
  return `${NAME} ${name}: ${summary}

Usage: ${[NAME, name, args, '[OPTION]...'].filter(Boolean).join(' ')}

${details}

Options:
${own}${optionLines(COMMON)}

${manualLines(name, NAME).join('\n')}
`;
}

function optionLines(options: Options): string {
  const rows = Object.entries(options).map(([name, { short, value, help }]) => {
    const said = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
    return [said, help] as const;
  });
  const width = Math.max(...rows.map(([said]) => said.length));
  return rows.map(([said, help]) => `  ${said.padEnd(width)}  ${help}`).join('\n');
}
