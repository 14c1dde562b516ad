import { AGENT_NODE_FLAGS } from '../agent/config.ts';
import { APISERVER_ALLOCATOR, APISERVER_NODE_FLAGS } from '../apiserver/config.ts';
import { CONTROLLER_ALLOCATOR, CONTROLLER_NODE_FLAGS } from '../controller/config.ts';

/** A program of the image. */
interface ImageProgram {
  /** A line for `--help`. */
  readonly summary: string;
  /** Arguments of Node itself. */
  readonly nodeFlags: readonly string[];
  /** Variables that must be there before Node starts. */
  readonly env: Readonly<Record<string, string>>;
}

/** The programs by the name in `IMAGE NAME`. */
export const IMAGE_PROGRAMS = {
  controller: {
    summary: 'decides which node is updated when',
    nodeFlags: CONTROLLER_NODE_FLAGS,
    env: CONTROLLER_ALLOCATOR,
  },
  agent: {
    summary: 'updates the host that it runs on',
    nodeFlags: AGENT_NODE_FLAGS,
    env: {},
  },
  apiserver: {
    summary: 'acts on the cluster for the agents: shadows, cordons, drains',
    nodeFlags: APISERVER_NODE_FLAGS,
    env: APISERVER_ALLOCATOR,
  },
  'kubectl-brupop': {
    summary: 'shows and steers the updates, for people',
    nodeFlags: [],
    env: {},
  },
} as const satisfies Readonly<Record<string, ImageProgram>>;

export type ProgramName = keyof typeof IMAGE_PROGRAMS;

/** Folder of the programs in the image. */
const PROGRAM_DIR = '/opt/brupop';

/** The command of a program, for the manifests and for the image's entry. @param dir folder of the programs */
export function nodeCommand(name: ProgramName, dir: string = PROGRAM_DIR): readonly [string, ...string[]] {
  return ['node', ...IMAGE_PROGRAMS[name].nodeFlags, `${dir}/${name}.mjs`];
}
