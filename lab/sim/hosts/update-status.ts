/** The body of `GET /updates/status`, as the host writes it. */
export interface WireStatus {
  update_state: 'Idle' | 'Available' | 'Staged' | 'Ready';
  available_updates: readonly string[];
  chosen_update: WireImage | null;
  active_partition: WirePartition | null;
  staging_partition: WirePartition | null;
  most_recent_command: WireCommand | null;
}

export interface WireImage {
  readonly arch: string;
  readonly version: string;
  readonly variant: string;
}

export interface WirePartition {
  readonly image: WireImage;
  readonly next_to_boot: boolean;
}

export type ActionName = 'refresh' | 'prepare' | 'activate' | 'deactivate';

export interface WireCommand {
  readonly cmd_type: ActionName;
  readonly cmd_status: 'Success' | 'Failed' | 'Unknown';
  readonly timestamp: string;
  readonly exit_status: number | null;
  readonly stderr: string | null;
}

/** @param running what the host runs */
export function freshStatus(running: WireImage): WireStatus {
  return {
    update_state: 'Idle',
    available_updates: [],
    chosen_update: null,
    active_partition: { image: running, next_to_boot: true },
    staging_partition: null,
    most_recent_command: null,
  };
}
