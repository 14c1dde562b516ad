import type { k8s } from 'cdk8s-plus-28';
import type { EnvSchema, processEnv } from '../runtime/lib/env.ts';
import type { Component } from './labels.ts';
import type { Settings } from './props/brupop.ts';

/** A literal, a reference to a field of the pod, or nothing where the process's own default is right in every pod. */
type EnvValue = string | number | boolean | k8s.EnvVarSource | undefined;

/**
 * The environment of a container. Each variable of the process's schema must be mentioned and no other may be: a name that one side
 * lacks does not compile.
 */
export function environment<S extends EnvSchema>(values: Readonly<Record<keyof S & string, EnvValue>>): k8s.EnvVar[] {
  return Object.entries<EnvValue>(values).flatMap(([name, value]): k8s.EnvVar[] => {
    if (value === undefined) return [];
    return typeof value === 'object' ? [{ name, valueFrom: value }] : [{ name, value: String(value) }];
  });
}

export const TERMINATION_LOG = '/dev/termination-log';

/** Kubernetes states the API's address; the service account is where every pod has it. */
export const IN_CLUSTER = {
  KUBERNETES_SERVICE_HOST: undefined,
  KUBERNETES_SERVICE_PORT: undefined,
  SERVICE_ACCOUNT_DIR: undefined,
  TERMINATION_LOG,
} satisfies Readonly<Record<Exclude<keyof typeof processEnv, 'KUBECONFIG'>, EnvValue>>;

export function loggingEnv({ logging, ...settings }: Settings, component: Component) {
  return {
    LOGGING_FORMATTER: logging.format,
    LOGGING_ANSI_ENABLED: logging.ansi,
    TRACING_FILTER_DIRECTIVE: settings[component].logFilter ?? logging.filter,
  };
}

export function podField(fieldPath: string): k8s.EnvVarSource {
  return { fieldRef: { fieldPath } };
}
