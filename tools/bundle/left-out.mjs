// What packages bring that no program here uses: more than half of the bundles. Whoever asks for it all the same is told.
import { readFile } from 'node:fs/promises';

/** A module whose functions and classes throw. */
const without = (names, why) =>
  names.map((name) => `export function ${name}() { throw new Error('${name} ${why}'); }`).join('\n');

/**
 * Of client-node only kubeconfigs and what they ask for are used. Requests go out by node:https: undici does not run on Node 20. The
 * generated clients are the classes of every kind. A proxy is one of HTTP.
 */
const SENDS = 'sends requests, which only runtime/kube/https.ts does here';
const OF_CLIENT_NODE = {
  undici: without(['Agent', 'ProxyAgent'], SENDS),
  './gen/index.js': without(['ServerConfiguration', 'createConfiguration'], SENDS),
  socks: without(['SocksClient'], 'is for proxies that runtime/kube/kubeconfig.ts refuses'),
  'socks-proxy-agent': without(['SocksProxyAgent'], 'is for proxies that runtime/kube/kubeconfig.ts refuses'),
};

/** prom-client asks the first only for exemplars, which are switched off, and the second for summaries: there are histograms here. */
const OF_PROM_CLIENT = {
  '@opentelemetry/api': 'export const trace = undefined, context = undefined;',
  tdigest: without(['TDigest'], 'is for summaries, of which there are none'),
};

/** Koa looks types up in a table of all that there are. */
const ANSWERED = ['application/json', 'application/octet-stream', 'text/html', 'text/plain'];

const inPackage = (name, importer) => importer.includes(`/node_modules/${name}/`);

export const leftOut = {
  name: 'left-out',
  setup: ({ onResolve, onLoad }) => {
    const packages = { '@kubernetes/client-node': OF_CLIENT_NODE, 'prom-client': OF_PROM_CLIENT };
    for (const [name, modules] of Object.entries(packages)) {
      for (const [asked, contents] of Object.entries(modules)) {
        const filter = new RegExp(`^${asked.replaceAll('.', '\\.')}$`);
        onResolve({ filter }, ({ path, importer }) =>
          inPackage(name, importer) ? { path, namespace: 'left-out', pluginData: contents } : undefined,
        );
      }
    }
    onLoad({ filter: /.*/, namespace: 'left-out' }, ({ pluginData }) => ({ contents: pluginData, loader: 'js' }));
    onLoad({ filter: /\/mime-db\/db\.json$/ }, async ({ path }) => {
      const types = JSON.parse(await readFile(path, 'utf8'));
      const contents = JSON.stringify(Object.fromEntries(ANSWERED.map((type) => [type, types[type]])));
      return { contents, loader: 'json' };
    });
    // client-node says its version to the API server, and nothing else of it.
    onLoad({ filter: /\/client-node\/package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ version }), loader: 'json' };
    });
  },
};
