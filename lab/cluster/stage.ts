import type { SimOptions } from '../sim/options.ts';
import { outcomeOf } from '../sim/view/outcome.ts';
import { certificatesIssued } from '../../test/e2e/cert-manager.ts';
import { type RealCluster, realCluster } from '../../test/e2e/cluster.ts';
import { History } from '../../test/e2e/history.ts';
import { kubectl } from '../../test/e2e/kubectl.ts';
import { DIST } from '../../test/e2e/scene.ts';
import type { RealFleet } from './fleet.ts';
import { startCluster } from './start.ts';

const OPTIONS: SimOptions = {
  nodes: 3,
  concurrency: '1',
  from: '1.38.0',
  to: '1.39.0',
  speed: 10,
  faults: new Map(),
  keep: false,
};

/** A cluster of real nodes around a file of scenarios. */
export class ClusterStage {
  readonly cluster: RealCluster;
  readonly options: SimOptions;
  readonly fleet: RealFleet;
  readonly history = new History();
  readonly #watching = new AbortController();
  #watched: Promise<void> = Promise.resolve();

  private constructor(parts: Pick<ClusterStage, 'cluster' | 'options' | 'fleet'>) {
    this.cluster = parts.cluster;
    this.options = parts.options;
    this.fleet = parts.fleet;
  }

  /** Boots the nodes, with DNS and cert-manager on them. */
  static async set(asked: Partial<SimOptions> = {}): Promise<ClusterStage> {
    const cluster = await realCluster();
    const options = { ...OPTIONS, ...asked };
    const build = { env: process.env, progress: () => undefined };
    return new ClusterStage({ cluster, options, fleet: await startCluster(cluster, { options, build }) });
  }

  /** The manifests as they are in `dist/`. Resolves when every certificate has been issued; pods are on their way. */
  async installOperator(): Promise<void> {
    await kubectl('apply', '-f', DIST);
    await certificatesIssued();
    // Not before: until then the API server knows no shadows.
    this.watch();
  }

  /** Follows what the API server's watches tell from now on. */
  watch(): void {
    this.#watched = this.history.run(this.cluster.transport, this.#watching.signal);
  }

  /** `History.until`, which rejects when a node could not follow its host. */
  until<T>(check: (history: History) => T | undefined | false): Promise<T> {
    return Promise.race([this.history.until(check), this.fleet.failed]);
  }

  /** Resolves when nothing more will happen to any node by itself. */
  async rolledOver(): Promise<void> {
    await this.until(({ nodes, shadows }) => outcomeOf({ nodes, shadows }, this.options.to) === 'over');
  }

  async strike(): Promise<void> {
    this.#watching.abort(new Error('the test is over'));
    await this.#watched;
    await this.fleet.stop();
  }
}
