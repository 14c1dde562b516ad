// Bundles every program into build/: the three processes that the manifests deploy, `kubectl brupop`, the image's entry, and what
// `npm start`, `npm run synth` and `npm run lab -- bench` run.
// Each process is one self-contained file (an image needs Node and nothing else), beside which lies client-node for those who start it
// with a kubeconfig; the rest loads its packages from node_modules.
// `lib` is what the package exports, and is only built where it is named, after the compiler.
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { leftOut } from './left-out.mjs';

const PROCESSES = {
  controller: 'runtime/main/controller.ts',
  agent: 'runtime/main/agent.ts',
  apiserver: 'runtime/main/apiserver.ts',
  brupop: 'runtime/main/brupop.ts',
  repository: 'runtime/main/repository.ts',
  'client-node': 'runtime/kube/client-node.ts',
};
/** What people run on machines of their own. */
const CLI = { 'kubectl-brupop': 'runtime/main/kubectl-brupop.ts' };
const TOOLS = {
  synth: 'infra/main.ts',
  helm: 'infra/helm/main.ts',
  sim: 'lab/sim/main.ts',
  bench: 'lab/bench/main.ts',
  'bench-load': 'lab/bench/apiserver/load.ts',
};

const wanted = process.argv.slice(2);
const chosen = (name) => wanted.length === 0 || wanted.includes(name);

const common = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outdir: 'build',
  outExtension: { '.js': '.mjs' },
  sourcemap: 'linked',
  logLevel: 'warning',
};

/** Leaves client-node in a file of its own, which is read only where there is a kubeconfig. */
const clientNodeApart = {
  name: 'client-node-apart',
  setup: ({ onResolve }) => {
    const external = { path: './client-node.mjs', external: true };
    onResolve({ filter: /\/client-node\.ts$/ }, ({ kind }) => (kind === 'dynamic-import' ? external : undefined));
  },
};

const entries = (programs) =>
  Object.entries(programs)
    .filter(([name]) => chosen(name))
    .map(([out, file]) => ({ in: file, out }));
const processes = entries(PROCESSES);
const cli = entries(CLI);
const tools = entries(TOOLS);

// CommonJS packages inside an ES module bundle still call require for Node's own modules.
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/**
 * One CommonJS file for both kinds of apps: Node finds its names from ES modules too, and there is one class of each name in an app,
 * however it is loaded.
 */
async function buildLib() {
  await rm('build/lib', { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: { index: 'infra/index.ts' },
    outdir: 'build/lib',
    outExtension: {},
    format: 'cjs',
    target: 'node20',
    packages: 'external',
    sourcemap: false,
  });
  await writeFile('build/lib/package.json', '{ "type": "commonjs" }\n');
  await copyDeclarations('infra/index.d.ts');
}

/** Those that the public ones lead to, out of all that the compiler has written: the rest is nobody's, and would pull in packages' own. */
async function copyDeclarations(file, copied = new Set()) {
  if (copied.has(file)) return;
  copied.add(file);
  const text = await readFile(join('build/types', file), 'utf8');
  await mkdir(dirname(join('build/lib', file)), { recursive: true });
  // Compilers before 5.0 take an import of `x.ts` for one of anything, and say nothing.
  await writeFile(join('build/lib', file), text.replaceAll(/(['"]\.[^'"]+)\.ts(['"])/g, '$1.js$2'));
  for (const [, path] of text.matchAll(/from '(\.[^']+)\.ts'/g))
    await copyDeclarations(join(dirname(file), `${path}.d.ts`), copied);
}

/** @returns what went into them */
async function buildProcesses() {
  const { metafile } = await build({
    ...common,
    entryPoints: processes,
    minifySyntax: true,
    minifyWhitespace: true,
    // A stack whose lines nobody looks up in the source map still tells one place from another.
    lineLimit: 120,
    keepNames: true,
    // For the lines of a stack alone; the text would be most of the file.
    sourcesContent: false,
    banner: { js: REQUIRE },
    plugins: [clientNodeApart, leftOut],
    metafile: true,
  });
  return metafile;
}

const PAGE = 'runtime/cli/dashboard/page';

/** The page of `kubectl brupop dashboard`, as texts in the program's own file: what is shown is loaded from nowhere else. */
async function buildPage() {
  const { outputFiles, metafile } = await build({
    bundle: true,
    minify: true,
    write: false,
    outdir: 'build/page',
    entryPoints: [`${PAGE}/main.tsx`, `${PAGE}/page.css`],
    format: 'esm',
    target: ['es2024', 'chrome123', 'firefox120', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'eof',
    logLevel: 'warning',
    metafile: true,
  });
  const textOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text;
  const [html, icon] = await Promise.all(['index.html', 'icon.svg'].map((file) => readFile(`${PAGE}/${file}`, 'utf8')));
  return { page: { html, icon, script: textOf('.js'), style: textOf('.css') }, metafile };
}

/** kubectl runs it for a shell that completes: it is the same program, asked something else. */
const COMPLETION = `#!/usr/bin/env node
process.argv.splice(2, 0, '__complete');
await import('./kubectl-brupop.mjs');
`;

/** One small file that starts quickly, for the Node that people have. */
async function buildCli() {
  const { page, metafile: ofPage } = await buildPage();
  const { metafile } = await build({
    ...common,
    entryPoints: cli,
    define: { DASHBOARD_PAGE: JSON.stringify(page) },
    target: 'node20',
    minify: true,
    keepNames: true,
    legalComments: 'eof',
    sourcemap: false,
    banner: { js: REQUIRE },
    plugins: [leftOut],
    metafile: true,
  });
  await writeFile('build/kubectl_complete-brupop.mjs', COMPLETION);
  for (const name of ['kubectl-brupop', 'kubectl_complete-brupop']) await chmod(`build/${name}.mjs`, 0o755);
  return { inputs: { ...metafile.inputs, ...ofPage.inputs }, outputs: { ...metafile.outputs, ...ofPage.outputs } };
}

/** Beside what the image holds stands what went into it, for its bill of materials. */
async function buildImagePrograms() {
  const [first, second] = await Promise.all([buildProcesses(), buildCli()]);
  const inputs = { ...first.inputs, ...second.inputs };
  const outputs = { ...first.outputs, ...second.outputs };
  await writeFile('build/processes.json', JSON.stringify({ inputs, outputs }));
}

await Promise.all([
  wanted.includes('lib') && buildLib(),
  wanted.length === 0 && buildImagePrograms(),
  wanted.length > 0 && processes.length > 0 && buildProcesses(),
  wanted.length > 0 && cli.length > 0 && buildCli(),
  tools.length > 0 && build({ ...common, entryPoints: tools, packages: 'external' }),
]);
