import { policiesOf, releasesOf } from '../api/resources.ts';
import { nodesOf } from '../kube/resources.ts';
import { COMMON } from './arguments.ts';
import type { Cluster, Command, Options } from './command.ts';
import { FORMATS } from './output/output.ts';

/**
 * Completes words by kubectl's convention. kubectl runs `kubectl_complete-brupop` with the words after the plug-in's name. The last word is the
 * one that is being typed. Each line of the output is a candidate. The last line says whether names of files are candidates as well.
 * @see https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins/
 */
export interface Completion {
  /** Each with its meaning, which may be empty. */
  readonly candidates: readonly (readonly [word: string, meaning: string])[];
  /** Names of files are candidates too. */
  readonly files: boolean;
}

/** Names of objects in the cluster; none where the cluster does not answer soon. */
type Lookup = (what: 'nodes' | 'policies' | 'releases' | 'contexts') => Promise<readonly string[]>;

const NOTHING: Completion = { candidates: [], files: false };
const plain = (words: readonly string[]): Completion => ({ candidates: words.map((word) => [word, '']), files: false });

export async function completionOf(
  words: readonly string[],
  commands: readonly Command[],
  lookup: Lookup,
): Promise<Completion> {
  const [typed = '', before = ''] = words.toReversed();
  const command = commands.find(({ name, alias = name }) =>
    words.slice(0, -1).some((word) => word === name || word === alias),
  );
  const options = { ...COMMON, ...command?.options };
  const isFirst = words.at(-2) === command?.name;
  const found = await candidatesFor({ typed, before, command, isFirst, options, commands, lookup });
  return { ...found, candidates: found.candidates.filter(([word]) => word.startsWith(typed)) };
}

interface Typed {
  readonly typed: string;
  readonly before: string;
  readonly command: Command | undefined;
  /** The word is the first argument of the command. */
  readonly isFirst: boolean;
  readonly options: Options;
  readonly commands: readonly Command[];
  readonly lookup: Lookup;
}

async function candidatesFor({
  typed,
  before,
  command,
  isFirst,
  options,
  commands,
  lookup,
}: Typed): Promise<Completion> {
  const option = optionOf(before, options);
  if (option !== undefined) return valuesOf(option, options, lookup);
  if (typed.startsWith('-')) return { candidates: flagsOf(options), files: false };
  if (!command) return { candidates: commands.map(({ name, summary }) => [name, summary]), files: false };
  if (command.args.includes('RELEASE') && (isFirst || !command.args.includes('NODE')))
    return plain(await lookup('releases'));
  if (command.args.includes('NODE')) return plain(await lookup('nodes'));
  return command.args.includes('POLICY') ? plain(await lookup('policies')) : NOTHING;
}

/** The option whose value is being typed. */
function optionOf(word: string, options: Options): string | undefined {
  return Object.entries(options).find(
    ([name, { type, short }]) =>
      type === 'string' && (word === `--${name}` || (short !== undefined && word === `-${short}`)),
  )?.[0];
}

async function valuesOf(name: string, options: Options, lookup: Lookup): Promise<Completion> {
  if (name === 'context') return plain(await lookup('contexts'));
  if (name === 'policy') return plain(await lookup('policies'));
  if (name === 'output') return plain(FORMATS);
  return { candidates: [], files: options[name]?.value === 'FILE' };
}

const flagsOf = (options: Options): Completion['candidates'] =>
  Object.entries(options).map(([name, { help }]) => [`--${name}`, help]);

/** The format of cobra, with which kubectl is made. The directive `:4` means no names of files. */
export function completionText({ candidates, files }: Completion): string {
  const lines = candidates.map(([word, meaning]) => (meaning === '' ? word : `${word}\t${meaning}`));
  return `${[...lines, files ? ':0' : ':4'].join('\n')}\n`;
}

/** Milliseconds until completion gives up, because the user waits in the shell. */
const TIMEOUT_MS = 2000;

const COLLECTIONS = { nodes: nodesOf, policies: policiesOf, releases: releasesOf } as const;

/** Asks the cluster for names. A failure gives no names, because a shell cannot show an error here. */
export function lookupIn(
  connect: () => Promise<Pick<Cluster, 'transport'>>,
  contexts: () => Promise<readonly string[]>,
): Lookup {
  return async (what) => {
    try {
      if (what === 'contexts') return await contexts();
      const { transport } = await connect();
      const objects = await COLLECTIONS[what](transport).list({}, AbortSignal.timeout(TIMEOUT_MS));
      return objects.map(({ metadata }) => metadata.name);
    } catch {
      return [];
    }
  };
}
