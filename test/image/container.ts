import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Pod } from '../../runtime/kube/objects.ts';
import { imageCommand, type StartProgram } from '../../lab/sim/world/programs.ts';
import type { Mounts } from '../../lab/sim/world/pod-files.ts';
import type { Layout } from './layout.ts';

/** The parts of a manifest that say under what constraints a container runs. */
export interface Constraints {
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly fsGroup?: number;
    readonly supplementalGroups?: readonly number[];
  };
  readonly containers: readonly [Container];
}

interface Container {
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[] };
  };
  readonly resources?: { readonly limits?: { readonly memory?: string } };
  readonly volumeMounts?: readonly { readonly mountPath: string; readonly readOnly?: boolean }[];
}

/** Where the runtime puts the kernel's own files; nothing can be mounted there but by a hook. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Where a program of Debian's package of that name is. @throws Error where it is not installed */
export function installed(program: string, debianPackage: string): string {
  const { stdout } = spawnSync('sh', ['-c', 'command -v "$0"', program], { encoding: 'utf8' });
  if (!stdout) throw new Error(`expected ${program} on the PATH: apt-get install ${debianPackage}`);
  return stdout.trim();
}

/** What a runtime gives to a container that does not ask for less. */
const USUAL_CAPABILITIES = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_KILL', 'CAP_NET_BIND_SERVICE'];

export interface ImageOptions {
  readonly layout: Layout;
  /** Folder with the image's file system. */
  readonly rootfs: string;
  /** Folder for the runtime's files; it must exist. */
  readonly dir: string;
}

export interface RunOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly mounts?: Mounts;
  readonly constraints?: Constraints;
}

/** Runs a program of the image to its end, as the image's own user: its exit code, and what it wrote to either stream. */
export async function runInImage(image: ImageOptions, options: RunOptions) {
  const { id, bundle } = newContainer(image, options);
  return promisify(execFile)('runc', ['--root', stateOf(image), 'run', '--bundle', bundle, id]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

/**
 * What a pod's container runs, under the security context, the memory limit and with the mounts of its manifest. It has this machine's
 * network, in which all pods share the addresses. Undefined for a pod of another image.
 */
export function imageContainer(pod: Pod, image: ImageOptions): StartProgram | undefined {
  const args = imageCommand(pod);
  if (!args) return undefined;
  return (env, logFile, mounts = {}) => {
    const { id, bundle } = newContainer(image, { args, env, mounts, constraints: pod.spec as unknown as Constraints });
    const log = createWriteStream(logFile, { flags: 'a' });
    const runc = spawn('runc', ['--root', stateOf(image), 'run', '--bundle', bundle, id], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    runc.stdout.pipe(log, { end: false });
    runc.stderr.pipe(log, { end: false });
    return {
      ...(runc.pid !== undefined && { pid: runc.pid }),
      ended: once(runc, 'close').then(
        () => void log.end(),
        () => void log.end(),
      ),
      // It hands signals on.
      terminate: () => runc.kill('SIGTERM'),
      kill: () => void execFile('runc', ['--root', stateOf(image), 'kill', id, 'KILL'], () => undefined),
    };
  };
}

function stateOf({ dir }: ImageOptions): string {
  return join(dir, 'state');
}

let containers = 0;

function newContainer(image: ImageOptions, options: RunOptions): { readonly id: string; readonly bundle: string } {
  const id = `brupop-image-${process.pid}-${++containers}`;
  const bundle = mkdtempSync(join(image.dir, `${id}-`));
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(specOf(id, image, options)));
  return { id, bundle };
}

/** @see https://github.com/opencontainers/runtime-spec/blob/main/config.md */
function specOf(
  id: string,
  { layout, rootfs }: ImageOptions,
  { args, env = {}, mounts = {}, constraints }: RunOptions,
) {
  const { [BOOT_ID]: bootId, ...others } = mounts;
  const { process: limits, readonly, memory, readOnlyPaths } = limitsOf(layout, constraints);
  return {
    ociVersion: '1.0.2',
    process: {
      cwd: '/',
      args,
      env: [...layout.config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      ...limits,
    },
    root: { path: rootfs, readonly },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      ...Object.entries(others).map(([destination, source]) => {
        const options = ['rbind', readOnlyPaths.has(destination) ? 'ro' : 'rw'];
        return { destination, source, type: 'bind', options };
      }),
    ],
    ...(bootId !== undefined && { hooks: { createContainer: [mountHook(bootId, `${rootfs}${BOOT_ID}`)] } }),
    linux: {
      cgroupsPath: `/${id}`,
      namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })),
      resources: { memory },
    },
  };
}

const UNCONSTRAINED: Constraints = { containers: [{}] };

/** What the constraints come to, with a runtime's defaults for what they leave out. */
function limitsOf(layout: Layout, { securityContext: pod, containers: [container] }: Constraints = UNCONSTRAINED) {
  const { securityContext: own = {}, resources, volumeMounts = [] } = container;
  const capabilities = own.capabilities?.drop?.includes('ALL') ? [] : USUAL_CAPABILITIES;
  return {
    process: {
      user: userOf(layout, pod),
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      noNewPrivileges: own.allowPrivilegeEscalation === false,
    },
    readonly: own.readOnlyRootFilesystem === true,
    memory: memoryOf(resources?.limits?.memory),
    readOnlyPaths: new Set(volumeMounts.filter(({ readOnly }) => readOnly).map(({ mountPath }) => mountPath)),
  };
}

function userOf({ config }: Layout, context: Constraints['securityContext'] = {}) {
  const [uid = 0, gid = 0] = config.User.split(':').map(Number);
  const { runAsUser = uid, runAsGroup = gid, fsGroup, supplementalGroups = [] } = context;
  const additionalGids = [...supplementalGroups, ...(fsGroup === undefined ? [] : [fsGroup])];
  return { uid: runAsUser, gid: runAsGroup, additionalGids };
}

function mountHook(source: string, target: string) {
  return { path: '/bin/mount', args: ['mount', '--bind', source, target], env: ['PATH=/usr/bin:/bin'] };
}

function memoryOf(limit: string | undefined) {
  if (limit === undefined) return {};
  const [, mebibytes] = /^(\d+)Mi$/.exec(limit) ?? [];
  if (mebibytes === undefined) throw new Error(`${limit}: expected mebibytes`);
  return { limit: Number(mebibytes) * 2 ** 20 };
}
