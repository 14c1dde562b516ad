// Of client-node only kubeconfigs and what they ask for are used: requests go out by node:https. Its own way to send them, undici and the
// classes of every kind, would be three quarters of the bundle, and undici does not run on Node 20.

const SENDER = 'sends requests, which only runtime/kube/https.ts does here';

/** Takes the place of undici: whoever wants to send by it is told. */
const UNDICI = ['Agent', 'ProxyAgent']
  .map((name) => `export class ${name} { constructor() { throw new Error('${name} of undici ${SENDER}'); } }`)
  .join('\n');

/** Takes the place of the generated clients. */
const CLIENTS = `export class ServerConfiguration {}
export function createConfiguration() { throw new Error('a client of client-node ${SENDER}'); }`;

const inClientNode = (importer) => importer.includes('/@kubernetes/client-node/');

export const kubeconfigsOnly = {
  name: 'kubeconfigs-only',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^undici$|\/gen\/index\.js$/ }, ({ path, importer }) =>
      inClientNode(importer) ? { path, namespace: 'left-out' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
      contents: path === 'undici' ? UNDICI : CLIENTS,
      loader: 'js',
    }));
  },
};
