/** How a program of the host has ended. */
export interface Ended {
  /** Its exit status; undefined where it was killed. */
  readonly exit: number | undefined;
  /** Whether it was killed because it ran for longer than it may. */
  readonly overdue: boolean;
  /** At most 64 KiB. */
  readonly stdout: string;
  /** At most 64 KiB. */
  readonly stderr: string;
}

/** The way to the host's own programs: processes in production, the simulated host itself in tests on virtual time. */
export interface HostPrograms {
  /**
   * Runs a program to its end. After `timeoutMs` milliseconds it is killed.
   * @throws HostUnreachableError when it cannot be started
   */
  run(command: Command, timeoutMs: number): Promise<Ended>;
}

/** A program by its path on the host, and its arguments. */
export type Command = readonly [string, ...string[]];

/** What chroot(1) says with its own exit status: the program is not there, or cannot be started, or chroot itself has failed. */
export const CHROOT_EXIT = { notFound: 127, notStarted: 126, itself: 125 } as const;
