/** All that is used of client-node. The build puts it into a file of its own, which a process in a pod never loads. */
export { KubeConfig } from '@kubernetes/client-node';
