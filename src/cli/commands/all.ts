import type { Command } from '../command';
import { demo } from './demo';
import { maps } from './maps';
import { replay } from './replay';
import { verify } from './verify';

/** Every command, in the order in which help lists them. */
export const COMMANDS: readonly Command[] = [maps, replay, verify, demo];
