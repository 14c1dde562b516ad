import type { Suite } from '../../test/e2e/runner.ts';
import { runSuite } from '../../test/e2e/suite.ts';
import { removeAbandoned } from './node/cgroups.ts';
import { prometheusArchive } from './parts/images.ts';
import { BESIDE_NODES, preparedCluster } from './start.ts';

/** `npm run lab -- test:cluster`. */
const CLUSTER: Suite = {
  command: 'test:cluster',
  folder: 'lab/cluster',
  logs: 'build/cluster',
  ending: '.cluster.ts',
  // Three nodes are all that two cores have time for.
  jobs: 1,
  own: 'a cluster',
  env: BESIDE_NODES,
};

const WITH_PROMETHEUS = 'app.cluster.ts';

try {
  process.exitCode = await runSuite(CLUSTER, {
    args: process.argv.slice(2),
    prepare: async (progress, files) => {
      const options = { env: process.env, progress };
      await preparedCluster(options);
      if (files.includes(WITH_PROMETHEUS)) await prometheusArchive(options);
    },
  });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await removeAbandoned();
}
