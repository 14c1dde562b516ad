/** All that is used of client-node. The build makes a file of its own of it, which a process in a pod never loads. */
export { KubeConfig } from '@kubernetes/client-node';
