/**
 * Every id that package.json and the code share, once. test/tidy.test.ts compares the two both ways.
 */

export const COMMANDS = {
  inspectProcess: 'vmaLens.inspectProcess',
  inspect: 'vmaLens.inspect',
  filterProcesses: 'vmaLens.filterProcesses',
  clearProcessFilter: 'vmaLens.clearProcessFilter',
  openMaps: 'vmaLens.openMaps',
  showFile: 'vmaLens.showFile',
  replayTrace: 'vmaLens.replayTrace',
  replayFile: 'vmaLens.replayFile',
  openExample: 'vmaLens.openExample',
  refresh: 'vmaLens.refresh',
  groupBy: 'vmaLens.groupBy',
  filterAddressSpace: 'vmaLens.filterAddressSpace',
  clearAddressSpaceFilter: 'vmaLens.clearAddressSpaceFilter',
  closeTarget: 'vmaLens.closeTarget',
  copyAddress: 'vmaLens.copyAddress',
  copyRange: 'vmaLens.copyRange',
  copyName: 'vmaLens.copyName',
  copyMapsLine: 'vmaLens.copyMapsLine',
  revealLine: 'vmaLens.revealLine',
  stepForward: 'vmaLens.stepForward',
  stepBack: 'vmaLens.stepBack',
  nextFork: 'vmaLens.nextFork',
  previousFork: 'vmaLens.previousFork',
  nextRename: 'vmaLens.nextRename',
  previousRename: 'vmaLens.previousRename',
  nextDenied: 'vmaLens.nextDenied',
  previousDenied: 'vmaLens.previousDenied',
  goToLine: 'vmaLens.goToLine',
  goToInstant: 'vmaLens.goToInstant',
  selectProcess: 'vmaLens.selectProcess',
  selectLife: 'vmaLens.selectLife',
  chooseKernel: 'vmaLens.chooseKernel',
  closeTrace: 'vmaLens.closeTrace',
} as const;

export type CommandId = (typeof COMMANDS)[keyof typeof COMMANDS];

export const VIEW_CONTAINER = 'vmaLens';

export const VIEWS = {
  processes: 'vmaLens.processes',
  addressSpace: 'vmaLens.addressSpace',
  sharedNames: 'vmaLens.sharedNames',
  traces: 'vmaLens.traces',
} as const;

export const SETTINGS = {
  replayKernel: 'vmaLens.replay.kernel',
} as const;

/** Keys of `when` clauses. */
export const CONTEXT_KEYS = {
  /** This machine has no /proc to read live processes from. */
  noProc: 'vmaLens.noProc',
  /** `live`, `file` or `replay`; unset without a target. */
  targetKind: 'vmaLens.targetKind',
  /** Something is open in Traces. */
  hasTrace: 'vmaLens.hasTrace',
  processFilter: 'vmaLens.processFilter',
  addressSpaceFilter: 'vmaLens.addressSpaceFilter',
} as const;

/** Colours of our own, each with a theme colour as default. */
export const COLORS = {
  sealed: 'vmaLens.sealedForeground',
  writableExecutable: 'vmaLens.writableExecutableForeground',
  deleted: 'vmaLens.deletedForeground',
  locked: 'vmaLens.lockedForeground',
  changed: 'vmaLens.changedForeground',
  denied: 'vmaLens.deniedForeground',
} as const;

/** Keys in the workspace's memory. */
export const STATE = {
  groupBy: 'groupBy',
  addressSpaceFilter: 'addressSpaceFilter',
  openSources: 'openSources',
} as const;
