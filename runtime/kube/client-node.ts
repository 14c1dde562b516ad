/**
 * All that is used of client-node, and of what it goes through proxies with. The build puts it into a file of its own, which a process in a pod never loads, and leaves out what only
 * sends requests (`scripts/client-node.mjs`).
 */
export { HttpsProxyAgent } from 'hpagent';
export { KubeConfig } from '@kubernetes/client-node/dist/config.js';
