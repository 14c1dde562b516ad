import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What is agreed on between programs, and with people. */
const CONTRACTS = [
  'runtime/api/shadow',
  'runtime/api/marks',
  'runtime/api/policy',
  'runtime/api/release',
  'runtime/api/waves',
  'runtime/api/k3os',
  'runtime/api/notifications',
];

/**
 * Imports point one way. This table is the whole architecture: what each folder may import besides itself. `docs/architecture.md`
 * explains why. The longest folder that matches a file is its own.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'runtime/lib': ['node'],
  'runtime/api/shadow': ['runtime/lib', 'zod'],
  'runtime/api/marks': ['runtime/api/shadow', 'zod'],
  'runtime/api/policy': ['runtime/lib', 'runtime/api/shadow', 'croner', 'zod'],
  'runtime/api/release': ['runtime/lib', 'runtime/api/shadow', 'runtime/api/waves', 'zod'],
  'runtime/api/waves': ['zod'],
  'runtime/repositories': ['runtime/lib', 'runtime/api/shadow', 'runtime/api/waves', 'node', 'tuf-js'],
  'runtime/kube': ['runtime/lib', 'node', '@kubernetes/client-node', 'hpagent'],
  'runtime/api': ['runtime/kube'],
  'runtime/drain': ['runtime/lib', 'runtime/api', 'runtime/api/shadow', 'runtime/api/marks', 'runtime/kube'],
  'runtime/main': [
    'runtime/lib',
    'runtime/api/shadow',
    'runtime/kube',
    'runtime/controller',
    'runtime/agent',
    'runtime/apiserver',
    'runtime/cli',
    'runtime/image',
    'runtime/repositories',
    'node',
    'log-update',
  ],
  'runtime/api/k3os': ['runtime/lib', 'runtime/api/shadow'],
  'runtime/api/notifications': ['runtime/lib', 'runtime/controller/plan/facts/reasons.ts', 'zod'],
  'runtime/controller/plan': [
    'runtime/api/shadow',
    'runtime/api/marks',
    'runtime/api/policy',
    'runtime/api/release',
    'runtime/lib',
  ],
  'runtime/controller': [
    'runtime/lib',
    'runtime/api',
    ...CONTRACTS,
    'runtime/repositories/protocol.ts',
    'runtime/kube',
    'node',
    'prom-client',
    'croner',
    'zod',
  ],
  'runtime/cli': [
    'runtime/lib',
    'runtime/api',
    ...CONTRACTS,
    'runtime/kube',
    'runtime/controller',
    'runtime/controller/plan',
    'runtime/drain',
    'node',
    'yaml',
  ],
  'runtime/cli/dashboard/page': ['runtime/lib', 'runtime/cli/dashboard/wire.ts', 'preact'],
  'runtime/api/agent': [],
  'runtime/agent/hosts': ['runtime/lib', 'runtime/api/shadow', 'runtime/api/k3os', 'node'],
  'runtime/agent': [
    'runtime/lib',
    'runtime/api',
    'runtime/api/shadow',
    'runtime/api/marks',
    'runtime/kube',
    'runtime/api/agent',
    'node',
  ],
  'runtime/apiserver': [
    'runtime/drain',
    'runtime/api',
    'runtime/api/agent',
    'runtime/lib',
    'runtime/api/shadow',
    'runtime/api/marks',
    'runtime/kube',
    'node',
    'prom-client',
    'koa',
    '@koa/router',
    'zod',
  ],
  'runtime/image': [
    'runtime/lib',
    'runtime/controller/config.ts',
    'runtime/agent/config.ts',
    'runtime/apiserver/config.ts',
  ],
  infra: [
    ...CONTRACTS,
    'runtime/lib',
    'runtime/controller/config.ts',
    'runtime/controller/plan/facts/reasons.ts',
    'runtime/controller/plan/facts/runbook.ts',
    'runtime/agent/config.ts',
    'runtime/apiserver/config.ts',
    'runtime/image/programs.ts',
    'imports',
    'node',
    'cdk8s',
    'cdk8s-plus-28',
    'constructs',
    'zod',
  ],
};

/** Pure folders: the same inputs give the same outputs, so nothing of these may be named in them. */
const IMPURE =
  /\b(process\.|Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(|setInterval\(|performance\.now\(|fetch\()/;
const PURE = [...CONTRACTS, 'runtime/controller/plan'];
/** The system's time and chance enter through these alone; process entry points, and the page's, hand them on. */
const EDGES = ['runtime/cli/dashboard/page/main.tsx', 'runtime/lib/clock.ts'];

const root = normalize(join(dirname(fileURLToPath(import.meta.url)), '..'));
const files = globSync(['runtime/**/*.{ts,tsx}', 'infra/**/*.ts', 'lab/sim/**/*.ts'], { cwd: root });
const source = (file: string): string => readFileSync(join(root, file), 'utf8');

function importsOf(file: string): string[] {
  const specifiers = [...source(file).matchAll(/^(?:import|export)\b[^;]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gms)];
  return specifiers.map(([, statics, dynamic]) => resolve(file, statics ?? dynamic ?? ''));
}

function resolve(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier));
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) return 'node';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

const within = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

function layerOf(file: string): string | undefined {
  const layers = Object.keys(MAY_IMPORT).filter((layer) => within(file, layer));
  return layers.toSorted((a, b) => b.length - a.length)[0];
}

describe('imports point one way', () => {
  test.each(Object.keys(MAY_IMPORT))('%s', (layer) => {
    const named = MAY_IMPORT[layer] ?? [];
    const allowed = [layer, ...named];
    const imports = files
      .filter((file) => layerOf(file) === layer)
      .flatMap((file) => importsOf(file).map((imported) => ({ file, imported })));
    const faults = imports
      .filter(({ imported }) => !allowed.some((prefix) => within(imported, prefix)) || !isOwn(imported, layer, allowed))
      .map(({ file, imported }) => `${file} imports ${imported}`);
    expect(faults).toEqual([]);
    // A name that nothing bears any more, after a move, would hold nothing.
    expect(named.filter((prefix) => !imports.some(({ imported }) => bears(imported, prefix)))).toEqual([]);
  });

  /** A file in a deeper layer than the allowed prefix is only allowed where that deeper layer is named, or is part of the importer. */
  function isOwn(imported: string, layer: string, allowed: readonly string[]): boolean {
    const target = layerOf(imported);
    return target === undefined || within(target, layer) || allowed.includes(target) || allowed.includes(imported);
  }

  const bears = (imported: string, prefix: string): boolean =>
    prefix in MAY_IMPORT ? layerOf(imported) === prefix : within(imported, prefix);
});

/** Each of them may import those before it. */
const ROOMS = ['facts', 'nodes', 'releases', 'groups', 'gates', 'answer'].map(
  (room) => `runtime/controller/plan/${room}`,
);

test.each(ROOMS)('%s imports no room of the plan that comes after it', (room) => {
  const later = ROOMS.slice(ROOMS.indexOf(room) + 1);
  const own = files.filter((file) => within(file, room));
  expect(own).not.toEqual([]);
  const faults = own.flatMap((file) =>
    importsOf(file)
      .filter((imported) => later.some((other) => within(imported, other)))
      .map((imported) => `${file} imports ${imported}`),
  );
  expect(faults).toEqual([]);
});

test('docs/architecture.md says what is in each folder', () => {
  const rows = source('docs/architecture.md').matchAll(/^\| `([^`]+)` /gm);
  const documented = new Set(Array.from(rows, ([, folder]) => folder));
  const folders = Object.keys(MAY_IMPORT).filter((layer) => !layer.endsWith('.ts'));
  expect(folders.filter((folder) => !documented.has(folder))).toEqual([]);
});

test('every file belongs to a layer, or to the simulation', () => {
  expect(files.filter((file) => layerOf(file) === undefined && !file.startsWith('lab/sim/'))).toEqual([]);
});

test('what people run on their machines is in no process', () => {
  const others = files.filter((file) => !within(file, 'runtime/cli') && !within(file, 'lab/sim'));
  const users = others.filter((file) => importsOf(file).some((imported) => within(imported, 'runtime/cli')));
  expect(users).toEqual(['runtime/main/kubectl-brupop.ts']);
});

test('values of client-node come from runtime/kube/client-node.ts alone, and its types from runtime/kube', () => {
  const users = files.filter((file) => importsOf(file).includes('@kubernetes/client-node'));
  const ofValues = /^(?:import|export) (?!type\b)[^;]*from '@kubernetes\/client-node/m;
  expect(users.filter((file) => ofValues.test(source(file)))).toEqual(['runtime/kube/client-node.ts']);
  expect(users.filter((file) => !within(file, 'runtime/kube') && !within(file, 'lab/sim'))).toEqual([]);
});

// What an exhausted union never was would be returned as it is, and a text is true.
test('a value that no type allows is not returned', () => {
  expect(files.filter((file) => /\breturn [^;]*\bsatisfies never\b/.test(source(file)))).toEqual([]);
});

// The name `z` that zod exports holds all of zod, its languages too: 0.5 MB that a bundler cannot leave out.
test('zod is imported by `* as z`', () => {
  const whole = files.filter((file) => /^import (?!(?:type )?\* as z )[^;]*from 'zod'/m.test(source(file)));
  expect(whole).toEqual([]);
});

describe('pure folders touch no clock, chance, process or network', () => {
  test.each(PURE)('%s', (folder) => {
    const own = files.filter((file) => within(file, folder));
    expect(own).not.toEqual([]);
    expect(own.filter((file) => IMPURE.test(source(file)) || importsOf(file).includes('node'))).toEqual([]);
  });
});

// What a plan leaves to the next is handed to it.
test('no module of the plan remembers anything', () => {
  const own = files.filter((file) => within(file, 'runtime/controller/plan'));
  const memory = /^(?:export )?(?:let |var |const \w+(?:: (?!readonly |Readonly)[^=]+)? = (?:new |\[\]|\{\}))/m;
  expect(own.filter((file) => memory.test(source(file)))).toEqual([]);
});

test('time and chance are injected everywhere else', () => {
  const users = files
    .filter((file) => within(file, 'runtime'))
    .filter((file) => /\b(Date\.now\(|new Date\(\)|Math\.random\(|performance\.now\()/.test(source(file)));
  expect(users.toSorted()).toEqual(EDGES);
});

interface LinterConfig {
  readonly overrides: readonly { readonly files: readonly string[] }[];
}

// One that a move has left behind would change no rule, and nobody would see it.
test('each glob of .oxlintrc.json matches a file', () => {
  const { overrides } = JSON.parse(source('.oxlintrc.json')) as LinterConfig;
  const globs = overrides.flatMap((override) => override.files);
  expect(globs).not.toEqual([]);
  expect(globs.filter((glob) => globSync(glob, { cwd: root }).length === 0)).toEqual([]);
});
