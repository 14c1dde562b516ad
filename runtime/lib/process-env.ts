import { optionalText, text } from './env.ts';

/**
 * Where a process finds the cluster. In a pod the defaults fit. Outside of one these variables say where a copy of the pod's files is.
 */
export const processEnv = {
  KUBERNETES_SERVICE_HOST: text({
    help: 'address of the Kubernetes API; set by Kubernetes',
    default: 'kubernetes.default.svc',
  }),
  KUBERNETES_SERVICE_PORT: text({ help: 'port of the Kubernetes API; set by Kubernetes', default: '443' }),
  SERVICE_ACCOUNT_DIR: text({
    help: 'folder with ca.crt, token and namespace of the service account',
    default: '/var/run/secrets/kubernetes.io/serviceaccount',
  }),
  KUBECONFIG: optionalText({
    help: 'a kubeconfig to use instead of the service account (not for agents)',
  }),
  TERMINATION_LOG: optionalText({ help: 'file for the reason of an exit, e.g. /dev/termination-log' }),
} as const;
