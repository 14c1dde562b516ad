import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { REFUSAL_REASONS } from '../api/agent/protocol.ts';

/** Seconds; a drain's request can last a minute. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Seconds; a drain may take half an hour and, by its settings, more. */
const DRAIN_BUCKETS = [1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600];

/** What the apiserver counts. A registry of its own, so that several apiservers can live in one process. */
export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Counter({
    name: 'brupop_apiserver_http_requests_total',
    help: 'HTTP requests that were answered, by method, route and status code.',
    labelNames: ['method', 'route', 'code'],
    registers: [this.registry],
  });

  readonly duration = new Histogram({
    name: 'brupop_apiserver_http_request_duration_seconds',
    help: 'Time until an HTTP request was answered, by method and route.',
    labelNames: ['method', 'route'],
    buckets: BUCKETS,
    registers: [this.registry],
  });

  readonly refusals = new Counter({
    name: 'brupop_apiserver_refusals_total',
    help: 'Requests that were refused, by reason.',
    labelNames: ['reason'],
    registers: [this.registry],
  });

  readonly evictions = new Counter({
    name: 'brupop_apiserver_evictions_total',
    help: 'Eviction requests, by what the Kubernetes API made of them: accepted, gone, blocked or refused.',
    labelNames: ['result'],
    registers: [this.registry],
  });

  readonly drainsRunning = new Gauge({
    name: 'brupop_apiserver_drains_running',
    help: 'Drains that this replica works on.',
    registers: [this.registry],
  });

  readonly drains = new Counter({
    name: 'brupop_apiserver_drains_total',
    help: 'Drains that ended here, by result: drained, timeout or superseded.',
    labelNames: ['result'],
    registers: [this.registry],
  });

  readonly looks = new Counter({
    name: 'brupop_apiserver_workload_looks_total',
    help: 'Looks at the pods of nodes that were updated, by what they showed: worse than elsewhere, or well.',
    labelNames: ['result'],
    registers: [this.registry],
  });

  readonly drainsWithoutRoom = new Counter({
    name: 'brupop_apiserver_drains_without_room_total',
    help: 'Times that the pods of a drain found no place elsewhere when it was to begin, by what became of it: begun or waiting.',
    labelNames: ['result'],
    registers: [this.registry],
  });

  readonly drainDuration = new Histogram({
    name: 'brupop_apiserver_drain_duration_seconds',
    help: 'Time from the beginning of a drain, on whatever replica, until the node was proven empty.',
    buckets: DRAIN_BUCKETS,
    registers: [this.registry],
  });

  readonly certificateExpiry = new Gauge({
    name: 'brupop_apiserver_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that is served expires, in seconds since the Unix epoch.',
    registers: [this.registry],
  });

  readonly certificateFailures = new Counter({
    name: 'brupop_apiserver_certificate_reload_failures_total',
    help: 'Times that new certificate files could not be used, so that the old ones stayed.',
    registers: [this.registry],
  });

  readonly certificateUnusable = new Gauge({
    name: 'brupop_apiserver_certificate_files_unusable',
    help: '1 while the certificate files, as they are now, cannot be used; 0 while they are what is served.',
    registers: [this.registry],
  });

  /** Series begin at zero, or the first refusal of its kind would be no increase. */
  constructor() {
    for (const reason of REFUSAL_REASONS) this.refusals.inc({ reason }, 0);
    for (const result of ['drained', 'timeout', 'superseded']) this.drains.inc({ result }, 0);
    for (const result of ['worse', 'well']) this.looks.inc({ result }, 0);
    for (const result of ['begun', 'waiting']) this.drainsWithoutRoom.inc({ result }, 0);
    for (const result of ['accepted', 'gone', 'blocked', 'refused']) this.evictions.inc({ result }, 0);
  }
}
