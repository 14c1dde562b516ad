import { EXIT } from '../lib/process.ts';
import { VERSION } from '../lib/version.ts';
import { IMAGE_PROGRAMS, nodeCommand, type ProgramName } from './programs.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The result of reading the image's arguments. */
type Invocation =
  | { readonly kind: 'run'; readonly command: readonly string[]; readonly env: Environment }
  | { readonly kind: 'out' | 'err'; readonly text: string; readonly exitCode: number };

const HELP = `brupop ${VERSION}
Keeps the Bottlerocket nodes of a Kubernetes cluster on the newest version that they are offered.

Usage: IMAGE PROGRAM [ARGUMENT]...

${Object.entries(IMAGE_PROGRAMS)
  .map(([name, { summary }]) => `  ${name.padEnd(14)}  ${summary}`)
  .join('\n')}

IMAGE PROGRAM --help lists its settings. Options: --help, --version
`;

/** Reads the arguments of `IMAGE ARGUMENT...`: a program to run, or a text to print. @param dir folder of the programs */
export function entry([name, ...args]: readonly string[], env: Environment, dir: string): Invocation {
  if (name === undefined) return { kind: 'err', text: HELP, exitCode: EXIT.badSettings };
  if (name === '--help' || name === '-h') return { kind: 'out', text: HELP, exitCode: EXIT.ok };
  if (name === '--version') return { kind: 'out', text: `brupop ${VERSION}\n`, exitCode: EXIT.ok };
  if (!isProgram(name)) return { kind: 'err', text: `unknown program ${name}\n\n${HELP}`, exitCode: EXIT.badSettings };
  // Variables that the user sets win.
  return { kind: 'run', command: [...nodeCommand(name, dir), ...args], env: { ...IMAGE_PROGRAMS[name].env, ...env } };
}

function isProgram(name: string): name is ProgramName {
  return Object.hasOwn(IMAGE_PROGRAMS, name);
}
