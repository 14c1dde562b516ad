import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { globSync, lstatSync, mkdirSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianContents } from '../../tools/image/contents.ts';
import { type Lock, readLock } from '../../tools/image/lock.ts';
import { type Arch, PLATFORMS } from '../../tools/image/platforms.ts';
import { VERSION } from '../../runtime/lib/version.ts';
import { type Constraints, type ImageOptions, installed, runInImage, type RunOptions } from './container.ts';
import { type Layout, ofThisMachine, readLayouts, unpack } from './layout.ts';

/** What `npm run image` has built, looked at and run as a container runtime would. */

const KUBECTL = 'kubectl-brupop';
const PROGRAMS = ['controller', 'agent', 'apiserver', KUBECTL];
const saidBy = (program: string): string => (program === KUBECTL ? KUBECTL : `brupop-${program}`);

let dir: string;
let layouts: readonly Layout[];
let lock: Lock;
const rootfs = new Map<Arch, string>();

beforeAll(async () => {
  installed('runc', 'runc');
  dir = await mkdtemp(join(tmpdir(), 'brupop-image-'));
  layouts = await readLayouts();
  lock = await readLock();
  for (const layout of layouts) rootfs.set(layout.arch, await unpack(layout, join(dir, layout.arch)));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const layoutOf = (arch: Arch): Layout => layouts.find((layout) => layout.arch === arch)!;
const read = (arch: Arch, path: string): string => readFileSync(join(rootfs.get(arch)!, path), 'utf8');

/** Regular files, by their paths in the image. */
function filesOf(arch: Arch): readonly string[] {
  const root = rootfs.get(arch)!;
  return globSync('**/*', { cwd: root }).filter((path) => lstatSync(join(root, path)).isFile());
}

/** In a container whose root cannot be written; a foreign processor is emulated. */
function run(arch: Arch, args: readonly string[], more: Omit<RunOptions, 'args' | 'constraints'> = {}) {
  const image: ImageOptions = { layout: layoutOf(arch), rootfs: rootfs.get(arch)!, dir };
  const constraints: Constraints = { containers: [{ securityContext: { readOnlyRootFilesystem: true } }] };
  if (ofThisMachine(layouts).arch === arch) return runInImage(image, { args, ...more, constraints });
  const [program = '', ...rest] = args;
  const emulator = installed(`qemu-${arch === 'arm64' ? 'aarch64' : 'x86_64'}-static`, 'qemu-user-static');
  const mounts = { ...more.mounts, '/qemu': emulator };
  return runInImage(image, { args: ['/qemu', `/usr/local/bin/${program}`, ...rest], ...more, mounts, constraints });
}

test('the image is for both platforms, and below 60 MB compressed on either', () => {
  expect(layouts.map(({ arch }) => arch)).toEqual(PLATFORMS.map(({ arch }) => arch));
  for (const { layers } of layouts) expect(layers.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(60e6);
});

describe.each(PLATFORMS)('linux/$arch', (platform) => {
  const { arch } = platform;

  test.each(PROGRAMS)('its %s says its version', async (program) => {
    const said = await run(arch, ['node', `/opt/brupop/${program}.mjs`, '--version']);
    expect(said).toMatchObject({ code: 0, stdout: `${saidBy(program)} ${VERSION}\n` });
  });

  test('has no program but Node: no shell, no package manager, nothing that a script could run by', () => {
    const executable = filesOf(arch).filter((path) => {
      const head = Buffer.alloc(4);
      readSync(openSync(join(rootfs.get(arch)!, path), 'r'), head);
      return head.toString('latin1') === '\u007FELF' || head.toString('latin1').startsWith('#!');
    });
    const libraries = /^(usr\/)?lib\/[\w-]+\/(ld-linux[\w.-]+|lib(c|m|dl|pthread|resolv|gcc_s|stdc\+\+)\.so[\d.]*)$/;
    // Its first line is for people's machines: here there is no `env` that it could be started by.
    const cli = `opt/brupop/${KUBECTL}.mjs`;
    expect(executable.filter((path) => !libraries.test(path) && path !== cli)).toEqual(['usr/local/bin/node']);
  });

  test('has nothing that is not of root, of now, or writable by others', () => {
    for (const { file } of layoutOf(arch).layers) {
      const lines = execFileSync('tar', ['-tvzf', file, '--full-time', '--utc'], { encoding: 'utf8' })
        .trim()
        .split('\n');
      const odd = /^(?!l)(?:.{3}s|.{6}s|.{5}w|.{8}w)|^.{10} (?!0\/0|root\/root) /;
      expect(lines.filter((line) => odd.test(line) || !line.includes(' 1970-01-01 00:00:00 '))).toEqual([]);
    }
  });

  test('has the certificates that programs look for, and the time zones that Node brings', async () => {
    const [first, ...others] = read(arch, 'etc/ssl/certs/ca-certificates.crt').split(
      /(?<=-----END CERTIFICATE-----\n)/,
    );
    for (const pem of [first!, ...others]) expect(new X509Certificate(pem).ca).toBe(true);
    expect(others.length).toBeGreaterThan(100);
    const berlin = "new Date(0).toLocaleString('sv', { timeZone: 'Europe/Berlin' })";
    expect((await run(arch, ['node', '-p', berlin])).stdout).toBe('1970-01-01 01:00:00\n');
  });

  test('its bill of materials has each file that is pinned, with its digest, and each package of the bundles', () => {
    const { packages } = JSON.parse(read(arch, 'usr/share/doc/brupop/sbom.spdx.json')) as {
      packages: {
        SPDXID: string;
        name: string;
        versionInfo: string;
        licenseDeclared: string;
        checksums?: { checksumValue: string }[];
      }[];
    };
    const named = new Map(packages.map((entry) => [entry.name, entry]));
    for (const { name } of debianContents(platform)) {
      const { version, sha256 } = lock.debian.packages[name]![arch];
      expect(named.get(name)).toMatchObject({ versionInfo: version, checksums: [{ checksumValue: sha256 }] });
    }
    expect(named.get(platform.nodePackage)).toMatchObject({ versionInfo: lock.node.version });
    for (const name of ['zod', 'croner', 'koa', 'prom-client', '@kubernetes/client-node', 'openssl', 'v8'])
      expect(named.has(name)).toBe(true);
    expect(new Set(packages.map(({ SPDXID }) => SPDXID)).size).toBe(packages.length);
  });

  test('has the licence of everything that is in it', () => {
    const { packages } = JSON.parse(read(arch, 'usr/share/doc/brupop/sbom.spdx.json')) as {
      packages: { name: string; versionInfo: string; externalRefs: { referenceLocator: string }[] }[];
    };
    for (const { name, versionInfo, externalRefs } of packages) {
      const [{ referenceLocator: purl } = { referenceLocator: '' }] = externalRefs;
      if (purl.startsWith('pkg:deb/'))
        expect(read(arch, `usr/share/doc/${name}/copyright`)).toMatch(/copyright|licen[cs]e/i);
      if (purl.startsWith('pkg:npm/') && name !== platform.nodePackage)
        expect(read(arch, 'usr/share/doc/brupop/third-party-licenses.txt')).toContain(`\n${name} ${versionInfo} (`);
    }
    expect(read(arch, 'usr/share/doc/node/copyright')).toContain('Node.js is licensed for use as follows');
    expect(read(arch, 'usr/share/doc/brupop/copyright')).toContain('Apache License');
  });

  test('is labelled, in its config and its manifest alike', () => {
    const { config, annotations } = layoutOf(arch);
    expect(config.Labels).toEqual(annotations);
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'brupop',
      'org.opencontainers.image.version': VERSION,
      'org.opencontainers.image.licenses': expect.stringContaining('Apache-2.0 AND '),
    });
  });
});

describe('the entry', () => {
  const arch: Arch = process.arch === 'x64' ? 'amd64' : 'arm64';
  const entry = (...args: readonly string[]) => run(arch, [...layoutOf(arch).config.Entrypoint, ...args]);

  test.each(PROGRAMS)('runs the %s by its name, with what follows', async (program) => {
    expect((await entry(program, '--version')).stdout).toBe(`${saidBy(program)} ${VERSION}\n`);
    expect((await entry(program, '--help')).stdout).toMatch(/ {2}KUBERNETES_SERVICE_HOST\n {6}.*\n {6}.*; default /);
  });

  test('hands on the exit code of what it runs', async () => {
    const { code, stderr } = await entry('agent');
    expect(stderr).toContain('MY_NODE_NAME: expected');
    expect(code).toBe(2);
  });

  test('lists its programs where none is named', async () => {
    expect(await entry()).toMatchObject({ code: 2, stderr: expect.stringContaining('controller') });
  });
});

describe('names are found', () => {
  const arch: Arch = process.arch === 'x64' ? 'amd64' : 'arm64';
  const lookup = "require('node:dns').lookup(process.argv[1], (error, address) => console.log(error?.code ?? address))";
  const files = (name: string, text: string): string => {
    mkdirSync(join(dir, 'etc'), { recursive: true });
    writeFileSync(join(dir, 'etc', name), text);
    return join(dir, 'etc', name);
  };

  test('in the file that the kubelet writes', async () => {
    const mounts = { '/etc/hosts': files('hosts', '192.0.2.7 pod.example\n') };
    expect((await run(arch, ['node', '-e', lookup, 'pod.example'], { mounts })).stdout).toBe('192.0.2.7\n');
  });

  test("by the cluster's DNS, as the agents find the apiserver", async () => {
    const server = createSocket('udp4', (question, from) => server.send(answer(question), from.port, from.address));
    server.bind(53, '127.0.0.1');
    await once(server, 'listening');
    try {
      const mounts = { '/etc/resolv.conf': files('resolv.conf', 'nameserver 127.0.0.1\n') };
      const name = 'brupop-apiserver.brupop-bottlerocket-aws.svc';
      expect((await run(arch, ['node', '-e', lookup, name], { mounts })).stdout).toBe('192.0.2.8\n');
    } finally {
      server.close();
    }
  });
});

/** Of a DNS server that has one address for every name, and nothing else. */
function answer(question: Buffer): Buffer {
  const end = question.indexOf(0, 12) + 5;
  const wanted = question.readUInt16BE(end - 4);
  const header = Buffer.from([...question.subarray(0, 2), 0x81, 0x80, 0, 1, 0, wanted === 1 ? 1 : 0, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 8]);
  return Buffer.concat([header, question.subarray(12, end), ...(wanted === 1 ? [record] : [])]);
}
