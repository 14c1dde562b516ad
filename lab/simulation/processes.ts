import { chance } from './environment/chance.ts';
import { Life, ProcessClock, type TrueTime } from './clock.ts';
import type { History } from './history.ts';
import type { SimulatedNetwork } from './network.ts';
import { type Container, PROGRAMS, userOf } from './programs.ts';
import type { Process, Scenario } from './types.ts';

export interface ProcessesOptions {
  readonly scenario: Scenario;
  readonly time: TrueTime;
  readonly network: SimulatedNetwork;
  readonly history: History;
}

/** For so long a process may go on once it is told to end. */
const GRACE_MS = 30_000;

/** All processes of the operator. Who starts them, and starts them anew, are the kubelets of the environment. */
export class Processes {
  readonly #options: ProcessesOptions;
  readonly #byName = new Map<string, SimulatedProcess>();

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  get all(): readonly Process[] {
    return [...this.#byName.values()];
  }

  agentRuns(node: string): boolean {
    return this.#byName.get(`agent-${node}`)?.running ?? false;
  }

  /** Starts a process of the container. One of its name that still runs is killed. */
  start(container: Container): Process {
    const { process: name } = container;
    const before = this.#byName.get(name);
    before?.kill();
    const process = new SimulatedProcess(container, { ...this.#options, lives: before?.lives ?? 0 });
    this.#byName.set(name, process);
    process.start();
    return process;
  }
}

interface End {
  readonly why?: string;
  readonly how?: 'silent';
}

interface Run {
  readonly life: Life;
  readonly stop: AbortController;
}

class SimulatedProcess implements Process {
  readonly name: string;
  readonly kind: Process['kind'];
  readonly node: string;
  lives: number;
  readonly #container: Container;
  readonly #options: ProcessesOptions;
  #run: Run | undefined;
  #off = 0;

  constructor(container: Container, options: ProcessesOptions & { readonly lives: number }) {
    this.name = container.process;
    this.kind = container.kind;
    this.node = container.node;
    this.lives = options.lives;
    this.#container = container;
    this.#options = options;
  }

  get running(): boolean {
    return this.#run !== undefined;
  }

  start(): void {
    if (this.#run) return;
    const { time, network, scenario } = this.#options;
    const run: Run = { life: new Life(), stop: new AbortController() };
    const clock = new ProcessClock(time, run.life, () => this.#container.offMs() + this.#off);
    this.#run = run;
    this.lives += 1;
    this.#tell('starts');
    const program = this.#container.program ?? PROGRAMS[this.kind];
    const ended = program({
      container: this.#container,
      member: { process: this, life: run.life, user: userOf(this.kind) },
      network,
      settings: scenario.settings,
      clock,
      random: chance(scenario.seed, `${this.name}/${this.lives}`),
      signal: run.stop.signal,
    });
    ended.then(
      (reason) => this.#over(run, 'ended', reason === undefined ? {} : { why: reason }),
      (error: unknown) => this.#over(run, run.stop.signal.aborted ? 'ended' : 'failed', { why: String(error) }),
    );
  }

  kill(): void {
    if (this.#run) this.#over(this.#run, 'killed');
  }

  vanish(): void {
    if (this.#run) this.#over(this.#run, 'killed', { why: 'its machine is off', how: 'silent' });
  }

  terminate(): void {
    const run = this.#run;
    if (!run || run.stop.signal.aborted) return;
    this.#tell('terminated');
    run.life.deliver(() => run.stop.abort(new Error('ended by SIGTERM')));
    this.#options.time.after(GRACE_MS, () => this.#over(run, 'killed'));
  }

  freeze(): () => void {
    return this.#run?.life.freeze() ?? (() => undefined);
  }

  setClock(offMs: number): void {
    this.#off = offMs;
  }

  #over(run: Run, event: keyof typeof EXIT_CODES, { why, how }: End = {}): void {
    if (this.#run !== run) return;
    this.#run = undefined;
    run.life.end(how);
    this.#tell(event, why);
    this.#container.onEnd(EXIT_CODES[event]);
  }

  #tell(event: 'starts' | 'terminated' | keyof typeof EXIT_CODES, why?: string): void {
    this.#options.history.add({ kind: 'process', process: this.name, event, ...(why !== undefined && { why }) });
  }
}

const EXIT_CODES = { ended: 0, failed: 1, killed: 137 } as const;
