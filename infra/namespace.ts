import type { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { manifest } from './manifest.ts';
import { addObject, globalMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

/** The agent reaches its host by a hostPath and an SELinux type, which no stricter profile allows. */
const POD_SECURITY = {
  'pod-security.kubernetes.io/enforce': 'privileged',
  'pod-security.kubernetes.io/audit': 'privileged',
  'pod-security.kubernetes.io/warn': 'privileged',
};

export function addNamespace(scope: Construct, id: string, settings: Settings): ApiObject {
  const metadata = globalMeta(settings, { name: settings.namespace, labels: POD_SECURITY });
  return addObject(scope, id, manifest('Namespace', { metadata }));
}
