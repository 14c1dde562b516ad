/** Wakes a loop. Ringing while nobody waits is remembered once, so no news is missed and none is told twice. */
export class Bell {
  #next = Promise.withResolvers<void>();

  ring(): void {
    this.#next.resolve();
  }

  /** Resolves at the first ring since the last wait. */
  async wait(): Promise<void> {
    await this.#next.promise;
    this.#next = Promise.withResolvers<void>();
  }
}
