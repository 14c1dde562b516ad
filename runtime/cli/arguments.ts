import { parseArgs } from 'node:util';
import { NAMESPACE } from '../api/shadow/names.ts';
import { nearest } from '../lib/nearest.ts';
import { type Command, type Options, optionValues, UsageError, type Values } from './command.ts';
import { FORMATS, type Format } from './output/output.ts';

/** Options of every command. */
export const COMMON: Options = {
  output: { type: 'string', short: 'o', value: 'FORMAT', help: `${FORMATS.join(', ')}; by default table` },
  namespace: {
    type: 'string',
    short: 'n',
    value: 'NAME',
    help: `the operator's namespace; by default the one of the cluster's conversion webhook, else ${NAMESPACE}`,
  },
  kubeconfig: {
    type: 'string',
    value: 'FILE',
    help: "by default $KUBECONFIG, else ~/.kube/config, else the pod's service account",
  },
  server: { type: 'string', short: 's', value: 'URL', help: "address of the API server, instead of the kubeconfig's" },
  token: { type: 'string', value: 'TOKEN', help: "bearer token, instead of the kubeconfig's user" },
  context: { type: 'string', value: 'NAME', help: 'a context of the kubeconfig; by default the current one' },
  as: { type: 'string', value: 'USER', help: 'impersonate this user, as with kubectl' },
  'as-group': {
    type: 'string',
    multiple: true,
    value: 'GROUP',
    help: 'impersonate this group too, with --as; may be repeated',
  },
  'request-timeout': {
    type: 'string',
    value: 'DURATION',
    help: 'how long one request may take, e.g. 5s, as with kubectl; by default 30s',
  },
  help: { type: 'boolean', short: 'h', help: 'print what the command does, and its options' },
};

/** A command line after parsing. */
export interface Invocation {
  readonly command: Command;
  readonly names: readonly string[];
  readonly values: Values;
  readonly format: Format;
}

type Parsed =
  | { readonly kind: 'help' | 'version'; readonly command: Command | undefined }
  | ({ readonly kind: 'run' } & Invocation);

/** @throws UsageError */
export function parseInvocation(args: readonly string[], commands: readonly Command[]): Parsed {
  const name = findCommand(args, commands);
  if (name === undefined) return withoutCommand(args);
  const command = commands.find((one) => [one.name, one.alias].includes(args[name]));
  if (!command) throw noCommand(args[name] ?? '', commands);
  const rest = args.filter((_, index) => index !== name).map(withoutEquals);
  const { values, positionals: names } = parseStrictly(rest, { ...COMMON, ...command.options });
  if (values['help']) return { kind: 'help', command };
  checkNames(command, names, values['selector']);
  const format = FORMATS.find((one) => one === (values['output'] ?? 'table'));
  if (!format) throw new UsageError(`-o: expected one of ${FORMATS.join(', ')}, got ${String(values['output'])}`);
  return { kind: 'run', command, names, values, format };
}

function noCommand(typed: string, commands: readonly Command[]): UsageError {
  const meant = nearest(
    typed,
    commands.map(({ name }) => name),
  );
  return new UsageError(`there is no command ${typed}${meant === undefined ? '' : `: did you mean ${meant}?`}`);
}

function withoutCommand(args: readonly string[]): Parsed {
  const version = { type: 'boolean', help: '' } as const;
  const { values } = parseStrictly(args, { ...COMMON, version });
  return { kind: values['version'] ? 'version' : 'help', command: undefined };
}

/** As kubectl takes it: `-o=json` is `-ojson`. */
const withoutEquals = (arg: string): string => arg.replace(/^-([a-z])=/, '-$1');

/** Finds the command, because options may stand before it. @returns its index in `args` */
function findCommand(args: readonly string[], commands: readonly Command[]): number | undefined {
  const options = Object.assign({}, ...commands.map((command) => command.options), COMMON) as Options;
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  return tokens.find(({ kind }) => kind === 'positional')?.index;
}

/** The options in an unfinished line. Completion needs them to find the cluster. */
export function parseUnfinished(words: readonly string[]): Values {
  return parseArgs({ args: [...words], options: COMMON, strict: false, allowPositionals: true }).values;
}

/** The options that say which cluster and which user. A token is not printed. */
const PLACE = ['namespace', 'context', 'kubeconfig', 'server', 'as', 'as-group'] as const;

/** A command for the user to run, on the same cluster and as the same user as this one. kubectl has the same options. */
export function commandLine(command: string, values: Values): string {
  const options = PLACE.flatMap((name) => {
    const { short } = COMMON[name] ?? {};
    const flag = short === undefined ? `--${name}` : `-${short}`;
    return optionValues(values, name).map((value) => `${flag} ${quoted(value)}`);
  });
  return [command, ...options].join(' ');
}

/** Makes a command one for the cluster and the user that this one is for. */
export type Here = (command: string) => string;

export const AS_IS: Here = (command) => command;

/** For all commands that a command names. */
export const hereOf =
  (values: Values): Here =>
  (command) =>
    commandLine(command, values);

/** A text for people, in which commands stand in backticks. */
export const told = (text: string, here: Here): string =>
  text.replaceAll(/`([^`]+)`/g, (_, command: string) => here(command));

/** In quotes where a shell would not take the text for one word. */
export const quoted = (text: string): string =>
  /^[\w%+,./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

function parseStrictly(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'the arguments are wrong', { cause: error });
  }
}

function checkNames({ name, args, minArgs = 0, maxArgs }: Command, names: readonly string[], selector: unknown): void {
  if (selector !== undefined && names.length > 0) throw new UsageError(`${name}: expected ${args} or -l, got both`);
  if (selector !== undefined) return;
  if (names.length >= minArgs && names.length <= maxArgs) return;
  const got = names.length === 0 ? 'nothing' : names.join(' ');
  throw new UsageError(args === '' ? `${name} takes no names, got ${got}` : `${name}: expected ${args}, got ${got}`);
}
