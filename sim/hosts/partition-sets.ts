interface PartitionSet {
  version: string | undefined;
  /** The bootloader tries the greatest first; 0 = never. */
  priority: number;
  triesLeft: number;
  /** Has booted once: tried without a limit. */
  successful: boolean;
}

/** @param part number of its first partition */
function setLine(name: string, part: number, { priority, triesLeft, successful }: PartitionSet): string {
  const [boot, root, hash] = [part, part + 1, part + 2].map((number) => `/dev/nvme0n1p${number}`);
  const flags = `priority=${priority} tries_left=${triesLeft} successful=${successful}`;
  return `Set ${name}:   boot=${boot} root=${root} hash=${hash} ${flags}`;
}

/** The two partition sets of a host, and what its bootloader makes of them. */
export class PartitionSets {
  #active: PartitionSet;
  #inactive: PartitionSet = { version: undefined, priority: 0, triesLeft: 0, successful: false };

  constructor(version: string) {
    this.#active = { version, priority: 1, triesLeft: 0, successful: true };
  }

  /** The version that runs. */
  get running(): string {
    return this.#active.version as string;
  }

  /** The version in the inactive partition set; undefined when it is empty or half written. */
  get staged(): string | undefined {
    return this.#inactive.version;
  }

  wipe(): void {
    this.#inactive = { version: undefined, priority: 0, triesLeft: 0, successful: false };
  }

  write(version: string): void {
    this.#inactive = { version, priority: 0, triesLeft: 1, successful: false };
  }

  /** Returns why it cannot be done. */
  activate(): string | undefined {
    const { other } = this;
    if (other === 'activated') return 'Inactive partition is already marked for upgrade';
    if (other !== 'written') return 'Inactive partition has not been marked valid for upgrade';
    this.#inactive.priority = 2;
    return undefined;
  }

  deactivate(): void {
    this.#inactive.priority = 0;
  }

  /** Whether what is in the inactive partition set is written and has not been tried, and boots next. */
  get other(): 'other' | 'written' | 'activated' {
    const { priority, triesLeft, successful } = this.#inactive;
    if (successful || triesLeft === 0) return 'other';
    return priority > 0 ? 'activated' : 'written';
  }

  /** What `signpost status` prints. */
  get table(): string {
    const next = this.other === 'activated' ? 'B' : 'A';
    return `OS disk: /dev/nvme0n1\n${setLine('A', 2, this.#active)}\n${setLine('B', 6, this.#inactive)}\nActive:  Set A\nNext:    Set ${next}\n`;
  }

  /**
   * What the bootloader does at a start of the machine: the set of the greatest priority, once where it has not proved itself.
   * @param boots whether an image that has not booted here before does
   * @returns how many sets were tried
   */
  boot(boots: (version: string) => boolean): number {
    const next = this.#inactive;
    if (next.version === undefined || next.priority <= this.#active.priority) return 1;
    if (next.triesLeft === 0 && !next.successful) return 1;
    next.triesLeft = 0;
    if (!next.successful && !boots(next.version)) return 2;
    const old = this.#active;
    this.#active = { ...next, priority: 1, successful: true };
    this.#inactive = { ...old, priority: 0 };
    return 1;
  }
}
