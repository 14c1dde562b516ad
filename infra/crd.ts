import type { ApiObject } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { PUBLIC_PATHS } from '../runtime/apiserver/config.ts';
import {
  APISERVER_SERVICE,
  CRD_NAME,
  GROUP,
  KIND,
  PLURAL,
  SERVED_VERSIONS,
  type ServedVersion,
  SHORT_NAME,
  SINGULAR,
  STORAGE_VERSION,
  UP_TO_DATE,
} from '../runtime/api/shadow/names.ts';
import { crdSchema } from '../runtime/api/shadow/schema.ts';
import { manifest, validation } from './manifest.ts';
import { SERVER_CERTIFICATE } from './names.ts';
import { addObject, globalMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

/** The CustomResourceDefinition of BottlerocketShadow with both versions; the apiserver converts between them. */
export function addShadowCrd(scope: Construct, id: string, settings: Settings): ApiObject {
  const { certificates, namespace } = settings;
  const isManaged = certificates.kind !== 'secret';
  // This certificate is the one that is served, so the ca.crt beside it is what signed it.
  const annotations = {
    ...settings.crdAnnotations,
    ...(isManaged && { 'cert-manager.io/inject-ca-from': `${namespace}/${SERVER_CERTIFICATE}` }),
  };
  return addObject(
    scope,
    id,
    manifest('CustomResourceDefinition', {
      metadata: globalMeta(settings, { name: CRD_NAME, annotations }),
      spec: {
        group: GROUP,
        names: { kind: KIND, listKind: `${KIND}List`, plural: PLURAL, singular: SINGULAR, shortNames: [SHORT_NAME] },
        scope: 'Namespaced',
        versions: SERVED_VERSIONS.map(crdVersion),
        conversion: conversion(settings),
      },
    }),
  );
}

function conversion({ apiserver, certificates, namespace }: Settings): k8s.CustomResourceConversion {
  const service = {
    name: APISERVER_SERVICE,
    namespace,
    path: PUBLIC_PATHS.crdConvert,
    port: apiserver.servicePort,
  };
  const caBundle = certificates.kind === 'secret' && Buffer.from(certificates.caBundle).toString('base64');
  return {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { service, ...(caBundle && { caBundle }) },
      conversionReviewVersions: [...SERVED_VERSIONS],
    },
  };
}

function crdVersion(name: ServedVersion): k8s.CustomResourceDefinitionVersion {
  return {
    name,
    served: true,
    storage: name === STORAGE_VERSION,
    subresources: { status: {} },
    additionalPrinterColumns: printerColumns(name),
    schema: validation(crdSchema(name)),
  };
}

const text = (name: string, jsonPath: string) => ({ name, jsonPath, type: 'string' });
/** Seen with `kubectl get -o wide` alone. */
const wide = (name: string, jsonPath: string) => ({ ...text(name, jsonPath), priority: 1 });
const verdict = (field: string): string => `.status.conditions[?(@.type=="${UP_TO_DATE}")].${field}`;

/** They come after the columns of earlier versions, which scripts read by their place. */
const V2_COLUMNS: readonly k8s.CustomResourceColumnDefinition[] = [
  { name: 'Crash Count', jsonPath: '.status.crash_count', type: 'integer' },
  text('Reason', verdict('reason')),
  wide('Message', verdict('message')),
  wide('Last Failure', '.status.last_failure.reason'),
];

function printerColumns(version: ServedVersion): k8s.CustomResourceColumnDefinition[] {
  return [
    text('State', '.status.current_state'),
    text('Version', '.status.current_version'),
    text('Target State', '.spec.state'),
    text('Target Version', '.spec.version'),
    ...(version === 'v2' ? V2_COLUMNS : []),
  ];
}
