import type { SimOptions } from '../sim/options.ts';
import { certificatesIssued } from '../../test/e2e/cert-manager.ts';
import { type RealCluster, realCluster } from '../../test/e2e/cluster.ts';
import { History } from '../../test/e2e/history.ts';
import { kubectl } from '../../test/e2e/kubectl.ts';
import { DIST, OPTIONS, type Outlook, outlook } from '../../test/e2e/scene.ts';
import type { RealFleet } from './fleet.ts';
import { startCluster } from './start.ts';

/** A cluster of real nodes around a file of scenarios. */
export class ClusterStage {
  readonly cluster: RealCluster;
  readonly options: SimOptions;
  readonly fleet: RealFleet;
  readonly history = new History();
  readonly until: Outlook['until'];
  readonly rolledOver: Outlook['rolledOver'];
  readonly #watching = new AbortController();
  #watched: Promise<void> = Promise.resolve();

  private constructor(parts: Pick<ClusterStage, 'cluster' | 'options' | 'fleet'>) {
    this.cluster = parts.cluster;
    this.options = parts.options;
    this.fleet = parts.fleet;
    ({ until: this.until, rolledOver: this.rolledOver } = outlook(this.history, this.fleet, this.options.to));
  }

  /** Boots the nodes, with DNS and cert-manager on them. */
  static async set(asked: Partial<SimOptions> = {}): Promise<ClusterStage> {
    const cluster = await realCluster();
    const options = { ...OPTIONS, nodes: 3, ...asked };
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

  async strike(): Promise<void> {
    this.#watching.abort(new Error('the test is over'));
    await this.#watched;
    await this.fleet.stop();
  }
}
