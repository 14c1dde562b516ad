interface Slot {
  version: string | undefined;
  /** The bootloader tries the greatest first; 0 = never. */
  priority: number;
  triesLeft: number;
  /** Has booted once: tried without a limit. */
  successful: boolean;
}

/** The two system partitions of a host, and what its bootloader makes of them. */
export class Slots {
  #active: Slot;
  #inactive: Slot = { version: undefined, priority: 0, triesLeft: 0, successful: false };

  constructor(version: string) {
    this.#active = { version, priority: 1, triesLeft: 0, successful: true };
  }

  /** The version that runs. */
  get running(): string {
    return this.#active.version as string;
  }

  /** The version in the inactive slot; undefined when it is empty or half written. */
  get staged(): string | undefined {
    return this.#inactive.version;
  }

  wipe(): void {
    this.#inactive = { version: undefined, priority: 0, triesLeft: 0, successful: false };
  }

  write(version: string): void {
    this.#inactive = { version, priority: 0, triesLeft: 0, successful: false };
  }

  activate(): void {
    Object.assign(this.#inactive, { priority: 2, triesLeft: 1 });
  }

  deactivate(): void {
    Object.assign(this.#inactive, { priority: 0, triesLeft: 0 });
  }

  /**
   * What the bootloader does at a start of the machine: the slot of the greatest priority, once where it has not proved itself.
   * @param boots whether an image that has not booted here before does
   * @returns how many slots were tried
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
