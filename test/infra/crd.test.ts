import { describe, expect, test } from '@jest/globals';
import { find, manifests } from './manifests.ts';

const NAME = 'bottlerocketshadows.brupop.bottlerocket.aws';
const { spec } = find(manifests(), 'CustomResourceDefinition', NAME);
const [v2, v1] = spec.versions;

/** Every schema inside of `schema`, itself included, with its path. */
function schemas(schema: Record<string, unknown>, path = ''): [string, Record<string, unknown>][] {
  const inner = Object.entries((schema['properties'] ?? {}) as Record<string, Record<string, unknown>>);
  const items = schema['items'] as Record<string, unknown> | undefined;
  return [
    [path, schema],
    ...inner.flatMap(([name, property]) => schemas(property, `${path}.${name}`)),
    ...(items ? schemas(items, `${path}[]`) : []),
  ];
}

describe('the CustomResourceDefinition', () => {
  test('has the public names', () => {
    expect(spec).toMatchObject({
      group: 'brupop.bottlerocket.aws',
      scope: 'Namespaced',
      names: {
        kind: 'BottlerocketShadow',
        plural: 'bottlerocketshadows',
        singular: 'bottlerocketshadow',
        shortNames: ['brs'],
      },
    });
  });

  test('serves both versions and stores v2', () => {
    expect(spec.versions).toMatchObject([
      { name: 'v2', served: true, storage: true, subresources: { status: {} } },
      { name: 'v1', served: true, storage: false, subresources: { status: {} } },
    ]);
  });

  test('prints the columns in the known order', () => {
    const columns = (version: typeof v2) =>
      version.additionalPrinterColumns.map(({ name, jsonPath }: Record<string, string>) => `${name} ${jsonPath}`);
    const both = [
      'State .status.current_state',
      'Version .status.current_version',
      'Target State .spec.state',
      'Target Version .spec.version',
    ];
    expect(columns(v1)).toEqual(both);
    const verdict = '.status.conditions[?(@.type=="UpToDate")]';
    expect(columns(v2)).toEqual([
      ...both,
      'Crash Count .status.crash_count',
      `Reason ${verdict}.reason`,
      `Message ${verdict}.message`,
      'Last Failure .status.last_failure.reason',
    ]);
    const wide = v2.additionalPrinterColumns.filter(({ priority }: { priority?: number }) => priority === 1);
    expect(wide.map(({ name }: { name: string }) => name)).toEqual(['Message', 'Last Failure']);
  });

  test('is converted by the apiserver, asked in either version', () => {
    expect(spec.conversion).toEqual({
      strategy: 'Webhook',
      webhook: {
        clientConfig: {
          service: { name: 'brupop-apiserver', namespace: 'brupop-bottlerocket-aws', path: '/crdconvert', port: 443 },
        },
        conversionReviewVersions: ['v2', 'v1'],
      },
    });
  });

  test('requires of a status what older parts read without asking', () => {
    const status = v2.schema.openAPIV3Schema.properties.status;
    expect(new Set(status.required)).toEqual(
      new Set(['current_version', 'target_version', 'current_state', 'crash_count']),
    );
    expect(status.properties.crash_count).toMatchObject({ type: 'integer', minimum: 0, maximum: 4294967295 });
    expect(status.properties.crash_count).not.toHaveProperty('format');
  });

  test.each([v1, v2])('$name is structural: a type everywhere, nothing that the API server would refuse', (version) => {
    for (const [path, schema] of schemas(version.schema.openAPIV3Schema)) {
      expect([path, typeof schema['type']]).toEqual([path, 'string']);
      for (const forbidden of [
        '$ref',
        '$schema',
        'definitions',
        'additionalProperties',
        'exclusiveMinimum',
        'anyOf',
        'const',
      ])
        expect(schema).not.toHaveProperty([forbidden]);
    }
  });
});
