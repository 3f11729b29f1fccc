/** Messages between an embedded sandbox and the page around it, and the element that makes the frame. */

export interface Envelope {
  source: 'scheduler-sandbox';
  version: 1;
}

/** A moment's address, such as `12.40`: after 40 trace entries of command 12. */
export type Moment = `${number}.${number}`;

export interface Facts {
  /** Sorted by name, 1,000 at most. */
  pods: {
    /** `namespace/name` */
    name: string;
    /** Of the scheduling queue; `''`: it is in none. */
    lane: 'activeQ' | 'backoffQ' | 'errorBackoffQ' | 'unschedulablePods' | 'gated' | 'inFlight' | '';
    /** Where it is bound. */
    node: string;
    /** Where the scheduler's cache assumes it, until it is bound. */
    assumed: string;
  }[];
  /** Pods that `pods` leaves out. */
  more: number;
  /** How many nodes there are. */
  nodes: number;
  /** The attempt in view; `null`: there was none yet. */
  attempt: {
    number: number;
    pod: string;
    stage: string;
    outcome: '' | 'bound' | 'unschedulable' | 'nominated' | 'error' | 'abandoned';
    /** The winner, or the node that it is nominated to. */
    node: string;
    message: string;
  } | null;
}

/** From the embed. */
export type MessageFromEmbed = Envelope & (
  | { type: 'ready'; /** `['differences']`: it shows a comparison; `['figure']`: a figure. */ panels: string[]; /** Whether `step` changes the sandbox. */ acts: boolean }
  | { type: 'moment'; at: Moment; place: number; of: number; clock: string; present: boolean; sentence: string }
  | { type: 'facts'; facts: Facts }
  | { type: 'refused'; /** Of the HTTP answer. */ status: number; /** Why nothing is shown. */ sentence: string }
  | { type: 'resize'; /** Pixels that all of it takes. */ height: number }
);

/** To the embed. */
export type MessageToEmbed = Envelope & (
  | { type: 'step' }
  | { type: 'back' }
  | { type: 'go'; at: Moment | 'start' | 'end' }
  | { type: 'show'; pod?: string; node?: string; panel?: string }
);

/** `<scheduler-sandbox>`. Each message from the embed becomes an event with the same name; `detail` is the message. */
export interface SchedulerSandboxElement extends HTMLElement {
  step(): void;
  back(): void;
  go(at: Moment | 'start' | 'end'): void;
  show(what: { pod?: string; node?: string; panel?: string }): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'scheduler-sandbox': SchedulerSandboxElement;
  }
}
