import { hexOfU64, type U64 } from '../../src/mm/addr';
import type { FdArg, NameArg, Syscall, SyscallResult, Trace, TraceEvent } from '../../src/trace/event';

/**
 * A trace as short text, one line an event, for golden files: `LINE<ENTRYLINE PID TIME call(field=value …) = result`.
 * Then `! LINE CODE` for each problem and `? CODE` for each lack.
 */
export function renderTrace(trace: Trace): string {
  return [
    ...trace.events.map(renderEvent),
    ...trace.problems.map(
      ({ line, code, text }) => `! ${line} ${code}${/ of \d+ such lines/.exec(text)?.[0] ?? ''}`,
    ),
    ...trace.lacks.map(({ code }) => `? ${code}`),
    '',
  ].join('\n');
}

export function renderEvent(event: TraceEvent): string {
  const where =
    event.kind === 'syscall' && event.entryLine !== event.line
      ? `${event.line}<${event.entryLine}`
      : `${event.line}`;
  const lead = `${where} ${event.pid}${event.time === undefined ? '' : ` @${event.time}`}`;
  switch (event.kind) {
    case 'syscall': {
      const moved = event.entryPid === undefined ? '' : ` (begun by ${event.entryPid})`;
      const took = event.duration === undefined ? '' : ` took ${event.duration}`;
      return `${lead} ${renderCall(event.call)} = ${renderResult(event.result)}${took}${moved}`;
    }
    case 'signal': {
      const address = event.faultAddr === undefined ? '' : ` at 0x${hexOfU64(event.faultAddr)}`;
      return `${lead} --- ${event.signal}${event.code === undefined ? '' : ` ${event.code}`}${address}`;
    }
    case 'exit':
      return `${lead} +++ ${event.how}`;
    case 'superseded':
      return `${lead} +++ superseded by ${event.by}`;
  }
}

function renderCall({ name, ...fields }: Syscall): string {
  const parts = Object.entries(fields).map(([field, value]) => `${field}=${renderField(field, value)}`);
  return `${name}(${parts.join(' ')})`;
}

type Field = U64 | boolean | string | undefined | FdArg | NameArg | readonly unknown[];

function renderField(field: string, value: Field): string {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return /^(?:id|pkey|advice|childInTracerNs)$/.test(field) ? String(value) : `0x${hexOfU64(value)}`;
  }
  if (Array.isArray(value)) return `[${value.map((each) => renderItem(each)).join(' | ')}]`;
  if (typeof value === 'object') return renderStruct(value as FdArg | NameArg);
  return value === undefined ? 'undefined' : JSON.stringify(value);
}

function renderItem(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : (each as unknown)));
}

function renderStruct(value: FdArg | NameArg): string {
  if ('fd' in value) {
    const path = value.path === undefined ? '' : JSON.stringify(value.path);
    const device = value.device === undefined ? '' : `<${value.device}>`;
    return `${value.fd}${path}${device}${value.deleted === true ? '(deleted)' : ''}`;
  }
  switch (value.kind) {
    case 'null':
      return 'null';
    case 'pointer':
      return `*0x${hexOfU64(value.pointer)}`;
    case 'text':
      return `${JSON.stringify(value.text)}${value.truncated ? '...' : ''}`;
  }
}

function renderResult(result: SyscallResult): string {
  switch (result.kind) {
    case 'value':
      return `0x${hexOfU64(result.value)}${result.injected ? ' injected' : ''}`;
    case 'errno':
      return `${result.errno}${result.injected ? ' injected' : ''}`;
    case 'unknown':
      return `unknown: ${result.text}`;
  }
}
