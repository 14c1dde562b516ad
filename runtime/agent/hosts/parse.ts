import { boundedJson } from '../../lib/json.ts';
import { HostProtocolError } from './errors.ts';
import type { HostCommand, HostStatus, Image, OsInfo, Partition } from './port.ts';
import { choiceIn } from './updog/words.ts';

/** The body of `GET /os`. @throws HostProtocolError naming the wrong field */
export function parseOs(body: string): OsInfo {
  const os = JsonReader.parse(body, 'GET /os');
  return { version: os.at('version_id').text(), variant: os.at('variant_id').text(), arch: os.at('arch').text() };
}

/** The body of `GET /updates/status`. Other fields are ignored. @throws HostProtocolError naming the wrong field */
export function parseStatus(body: string): HostStatus {
  const status = JsonReader.parse(body, 'GET /updates/status');
  const staging = status.at('staging_partition').optional(partition);
  const lastCommand = status.at('most_recent_command').optional(command);
  return {
    state: status.at('update_state').oneOf(['Idle', 'Available', 'Staged', 'Ready']),
    available: status.at('available_updates').optional((list) => list.texts()),
    chosen: status.at('chosen_update').optional(image),
    active: status.at('active_partition').optional(partition),
    staging: bearsOut(lastCommand, staging) ? staging : undefined,
    lastCommand,
  };
}

/**
 * Whether the last command confirms what the status says is staged. A download chooses a version again, by the settings and the repository
 * at that time, but the status repeats the choice of the last refresh. After a failed download the status is the same as before. Only the
 * command's own output tells what was written.
 */
function bearsOut(last: HostCommand | undefined, staging: Partition | undefined): boolean {
  if (last?.type !== 'prepare') return true;
  return last.status === 'Success' && (last.chose === undefined || last.chose === staging?.image.version);
}

function image(json: JsonReader): Image {
  return { version: json.at('version').text(), variant: json.at('variant').text(), arch: json.at('arch').text() };
}

function partition(json: JsonReader): Partition {
  return { image: image(json.at('image')), nextToBoot: json.at('next_to_boot').flag() };
}

function command(json: JsonReader): HostCommand {
  const type = json.at('cmd_type').oneOf(['refresh', 'prepare', 'activate', 'deactivate']);
  const stderr = json.at('stderr').optional((text) => text.text());
  return {
    type,
    status: json.at('cmd_status').oneOf(['Success', 'Failed', 'Unknown']),
    timestamp: json.at('timestamp').text(),
    exit: json.at('exit_status').optional((exit) => exit.integer()),
    stderr,
    chose: type === 'prepare' ? choiceIn({ stdout: '', stderr: stderr ?? '' }) : undefined,
  };
}

/** @param call what the body answers, for messages @throws HostProtocolError when it is not JSON */
export function jsonBody(body: string, call: string): unknown {
  try {
    return boundedJson(body);
  } catch (cause) {
    throw new HostProtocolError(`${call}: not JSON: ${JSON.stringify(body.slice(0, 100))}`, { cause });
  }
}

/** A value of a JSON body, and its path for messages. A schema library would be most of an agent's code and memory. */
class JsonReader {
  readonly #value: unknown;
  readonly #call: string;
  readonly #path: readonly string[];

  private constructor(value: unknown, call: string, path: readonly string[]) {
    this.#value = value;
    this.#call = call;
    this.#path = path;
  }

  /** As `jsonBody`. */
  static parse(body: string, call: string): JsonReader {
    return new JsonReader(jsonBody(body, call), call, []);
  }

  /** @throws HostProtocolError when this is no object. All readers throw it, and name the wrong field. */
  at(name: string): JsonReader {
    const value = this.#value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.#wrong('an object');
    return new JsonReader((value as Readonly<Record<string, unknown>>)[name], this.#call, [...this.#path, name]);
  }

  /** Undefined where the value is null or absent. */
  optional<T>(read: (json: JsonReader) => T): T | undefined {
    return this.#value == null ? undefined : read(this);
  }

  text(): string {
    if (typeof this.#value !== 'string') throw this.#wrong('a text');
    return this.#value;
  }

  texts(): readonly string[] {
    const value = this.#value;
    if (!Array.isArray(value)) throw this.#wrong('a list');
    return value.filter((item) => typeof item === 'string');
  }

  flag(): boolean {
    if (typeof this.#value !== 'boolean') throw this.#wrong('true or false');
    return this.#value;
  }

  integer(): number {
    if (!Number.isInteger(this.#value)) throw this.#wrong('a whole number');
    return this.#value as number;
  }

  oneOf<T extends string>(allowed: readonly T[]): T {
    const found = allowed.find((one) => one === this.#value);
    if (found === undefined) throw this.#wrong(allowed.join(', '));
    return found;
  }

  #wrong(expected: string): HostProtocolError {
    const got = JSON.stringify(this.#value)?.slice(0, 100) ?? 'nothing';
    return new HostProtocolError(
      `${this.#call}: ${this.#path.join('.') || '(whole)'}: expected ${expected}, got ${got}`,
    );
  }
}
