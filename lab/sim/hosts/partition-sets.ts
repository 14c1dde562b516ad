interface PartitionSet {
  version: string | undefined;
  /** The bootloader tries the greatest first; 0 = never. */
  priority: number;
  triesLeft: number;
  /** Has booted once and proved itself: tried without a limit. */
  successful: boolean;
}

const empty = (): PartitionSet => ({ version: undefined, priority: 0, triesLeft: 0, successful: false });

/** @param part number of its first partition */
function setLine(name: string, part: number, { priority, triesLeft, successful }: PartitionSet): string {
  const [boot, root, hash] = [part, part + 1, part + 2].map((number) => `/dev/nvme0n1p${number}`);
  const flags = `priority=${priority} tries_left=${triesLeft} successful=${successful}`;
  return `Set ${name}:   boot=${boot} root=${root} hash=${hash} ${flags}`;
}

function isBootable({ version, priority, triesLeft, successful }: PartitionSet): boolean {
  return version !== undefined && priority > 0 && (successful || triesLeft > 0);
}

/** What a start of the machine can come to. */
export interface StartTerms {
  /** Whether an image that has not booted here before does. */
  readonly boots: (version: string) => boolean;
  /** Whether what has booted is then marked as a success. */
  readonly marks: () => boolean;
}

/** The two partition sets of a host, their flags, and what its bootloader makes of them. */
export class PartitionSets {
  #active: PartitionSet;
  #inactive = empty();

  constructor(version: string) {
    this.#active = { version, priority: 1, triesLeft: 0, successful: true };
  }

  /** The version that runs. */
  get running(): string {
    return this.#active.version as string;
  }

  wipe(): void {
    this.#inactive = empty();
  }

  write(version: string): void {
    this.#inactive = { version, priority: 0, triesLeft: 1, successful: false };
  }

  /** Returns why it cannot be done. */
  activate(): string | undefined {
    const { other } = this;
    if (other === 'activated') return 'Inactive partition is already marked for upgrade';
    if (other !== 'written') return 'Inactive partition has not been marked valid for upgrade';
    this.#prefer(this.#inactive);
    return undefined;
  }

  deactivate(): void {
    this.#inactive.priority = 0;
  }

  /** What `signpost rollback-to-inactive` does: the system that ran before boots next. Returns why it cannot be done. */
  rollBack(): string | undefined {
    if (!this.#inactive.successful) return 'Inactive partition cannot be rolled back to';
    this.#prefer(this.#inactive);
    return undefined;
  }

  /** Whether what is in the inactive partition set is written and has not been tried, and boots next. */
  get other(): 'other' | 'written' | 'activated' {
    const { priority, triesLeft, successful } = this.#inactive;
    if (successful || triesLeft === 0) return 'other';
    return priority > 0 ? 'activated' : 'written';
  }

  /** What `signpost status` prints. */
  get table(): string {
    const next = this.#order[0] === this.#inactive ? 'B' : 'A';
    return `OS disk: /dev/nvme0n1\n${setLine('A', 2, this.#active)}\n${setLine('B', 6, this.#inactive)}\nActive:  Set A\nNext:    Set ${next}\n`;
  }

  /**
   * What the bootloader does at a start of the machine: the set of the greatest priority that has proved itself or has a try left.
   * @returns how many sets were tried
   */
  boot({ boots, marks }: StartTerms): number {
    const order = this.#order;
    const chosen = order.find((set) => {
      if (set.successful) return true;
      set.triesLeft = 0;
      return boots(set.version as string);
    });
    // Where nothing boots the machine tries for ever; here it comes up as it was.
    const booted = chosen ?? this.#active;
    this.#inactive = booted === this.#active ? this.#inactive : this.#active;
    this.#active = booted;
    booted.successful ||= marks();
    return Math.max(1, order.indexOf(booted) + 1);
  }

  /** Which are tried, first to last. */
  get #order(): readonly PartitionSet[] {
    return [this.#active, this.#inactive].filter(isBootable).toSorted((a, b) => b.priority - a.priority);
  }

  #prefer(set: PartitionSet): void {
    this.#active.priority = 1;
    set.priority = 2;
  }
}
