/**
 * The values of client-node that are used, and the agent for proxies. The build (`tools/bundle/left-out.mjs`) makes them a file of their own,
 * because a process in a pod never needs them, and leaves out what sends requests.
 */
export { HttpsProxyAgent } from 'hpagent';
export { KubeConfig } from '@kubernetes/client-node/dist/config.js';
