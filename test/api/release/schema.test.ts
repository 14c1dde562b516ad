import { beforeEach, describe, expect, test } from '@jest/globals';
import { RELEASES_PATH, releasesOf } from '../../../runtime/api/resources.ts';
import { RELEASE_API_VERSION, RELEASE_KIND, releaseObjectName } from '../../../runtime/api/release/names.ts';
import { VirtualClock } from '../../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../../lab/sim/cluster/cluster.ts';
import { seeded } from '../../random.ts';
import { releaseCrd } from '../../release-crd.ts';

const cluster = (): EmbeddedCluster => new EmbeddedCluster({ clock: new VirtualClock(), random: seeded(1) });
let admin = cluster().transport(ADMIN);
const SPEC = { family: 'aws-k8s-1.33/amd64', version: '1.2.0' };
const create = (spec: object): Promise<unknown> =>
  releasesOf(admin).create({ apiVersion: RELEASE_API_VERSION, kind: RELEASE_KIND, metadata: { name: 'one' }, spec });

beforeEach(async () => {
  admin = cluster().transport(ADMIN);
  await admin.request({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: releaseCrd(),
  });
});

describe('a release on the API server', () => {
  test('is decided on automatically where nobody says otherwise', async () => {
    expect(await create(SPEC)).toMatchObject({ spec: { ...SPEC, decision: 'Automatic' } });
  });

  test.each([
    [{ family: SPEC.family }, 'spec.version'],
    [{ ...SPEC, decision: 'halt' }, 'spec.decision'],
    [{ ...SPEC, family: '' }, 'spec.family'],
  ])('is refused as %j', async (spec, field) => {
    await expect(create(spec)).rejects.toMatchObject({
      status: { details: { causes: [expect.objectContaining({ field })] } },
    });
  });

  test.each(['family', 'version'])(
    'keeps its %s, or failures of one release would count for another',
    async (field) => {
      await create(SPEC);
      const body = { spec: { [field]: 'another' } };
      const request = {
        method: 'PATCH',
        path: `${RELEASES_PATH}/one`,
        body,
        contentType: 'application/merge-patch+json',
      };
      await expect(admin.request(request as Parameters<typeof admin.request>[0])).rejects.toThrow('cannot be changed');
    },
  );
});

test('the object of a release has its version, variant and architecture for a name, where that is one', () => {
  expect(releaseObjectName(SPEC)).toBe('1.2.0.aws-k8s-1.33.amd64');
  expect(releaseObjectName({ family: 'k3os/amd64', version: 'v1.21.5+k3s2r1' })).toMatch(/^release-[0-9a-f]{8}$/);
  expect(releaseObjectName({ family: '/', version: '1.2.0' })).toMatch(/^release-[0-9a-f]{8}$/);
});
