// Participants of the room: a pure function of the events.

import { readChatMessage, readHistory, readId, readLinksOf, readParticipant, readQueue, readReachable, readRecordingError, readSettings, readWelcome, type ChatMessage, type Link, type Participant, type Settings, type Waiting } from '../model/types';

export interface Presence {
  /** Our own id, after the server's welcome. */
  readonly self: string | null;
  /** Secret that proves our id. */
  readonly secret: string;
  /** Participants in order of arrival. */
  readonly participants: ReadonlyMap<string, Participant>;
  /** Chat, the oldest message first. */
  readonly chat: readonly ChatMessage[];
  readonly settings: Settings;
  /** Whether the server can record the room. */
  readonly recordable: boolean;
  /** Latest failure of the recording; for moderators. */
  readonly recordingFailed: string | null;
  /** People who wait to be admitted; empty unless we may moderate. */
  readonly queue: readonly Waiting[];
  /** Whether the server knows the participants on the other servers of its cluster. */
  readonly complete: boolean;
}

export const nobody: Presence = { self: null, secret: '', participants: new Map(), chat: [], settings: readSettings(null), recordable: false, recordingFailed: null, queue: [], complete: true };

/** Messages that the page keeps. Chosen by us: more than the server has for newcomers. */
const MOST_MESSAGES = 1_000;

/** Returns the next state; the same object if the event changes nothing or is invalid. */
export function reduce(presence: Presence, event: string, value: unknown): Presence {
  switch (event) {
    case 'welcome': {
      const welcome = readWelcome(value);
      if (welcome === null) return presence;
      return {
        self: welcome.id,
        secret: welcome.secret,
        participants: new Map(welcome.participants.map((each) => [each.id, each])),
        chat: presence.chat,
        settings: welcome.settings,
        recordable: welcome.recordable,
        recordingFailed: null,
        queue: [],
        complete: true,
      };
    }
    case 'history':
    case 'chat': {
      const message = readChatMessage(value);
      const chat = withMessages(presence.chat, message === null ? readHistory(value) : [message]);
      return chat === presence.chat ? presence : { ...presence, chat };
    }
    case 'joined':
    case 'changed': {
      const participant = readParticipant(value);
      return participant === null ? presence : withParticipant(presence, participant);
    }
    case 'settings':
      return { ...presence, settings: readSettings(value) };
    case 'recording':
      return { ...presence, recordingFailed: readRecordingError(value) };
    case 'queue':
      return { ...presence, queue: readQueue(value) };
    case 'cluster':
      return { ...presence, complete: readReachable(value) };
    case 'left': {
      const id = readId(value);
      if (id === null || !presence.participants.has(id)) return presence;
      const participants = new Map(presence.participants);
      participants.delete(id);
      return { ...presence, participants };
    }
    case 'links': {
      const update = readLinksOf(value);
      const participant = update && presence.participants.get(update.id);
      if (!update || !participant) return presence;
      return withParticipant(presence, { ...participant, links: update.links });
    }
    default:
      return presence;
  }
}

function withParticipant(presence: Presence, participant: Participant): Presence {
  return { ...presence, participants: new Map(presence.participants).set(participant.id, participant) };
}

/** The chat with these messages, each once. */
function withMessages(chat: readonly ChatMessage[], more: readonly ChatMessage[]): readonly ChatMessage[] {
  const known = new Set(chat.map(({ id }) => id));
  const added = more.filter(({ id }) => !known.has(id));
  return added.length === 0 ? chat : [...chat, ...added].slice(-MOST_MESSAGES);
}

/** Participants with raised hands, in the order of raising. */
export function hands(presence: Presence): Participant[] {
  const raised = [...presence.participants.values()].filter(({ hand }) => hand !== null);
  return raised.sort((a, b) => (a.hand ?? 0) - (b.hand ?? 0));
}

/** All participants except ourselves. */
export function others(presence: Presence): Participant[] {
  return [...presence.participants.values()].filter((each) => each.id !== presence.self);
}

/** Announcement of a change for listeners, in short sentences. */
export function news(before: Presence, after: Presence): string[] {
  if (before.self === null) return [];
  const said: string[] = [];
  for (const participant of others(after)) {
    const earlier = before.participants.get(participant.id);
    if (earlier === undefined) said.push(`${participant.name} joined.`);
    else {
      if (participant.hand !== null && earlier.hand === null) said.push(`${participant.name} raised a hand.`);
      said.push(...linkNews(participant.name, earlier.links, participant.links));
    }
  }
  for (const { id, name } of after.queue) {
    if (!before.queue.some((each) => each.id === id)) said.push(`${name} waits to be let in.`);
  }
  if (after.settings.locked !== before.settings.locked) said.push(after.settings.locked ? 'The room is locked.' : 'The room is open.');
  if (after.settings.recorded !== before.settings.recorded) said.push(after.settings.recorded ? 'The server records this room.' : 'The recording has ended.');
  const [was, is] = [before.participants.get(before.self), after.self === null ? undefined : after.participants.get(after.self)];
  if (is?.muted === true && was?.muted !== true) said.push('A moderator has muted you.');
  for (const participant of others(before)) {
    if (!after.participants.has(participant.id)) said.push(`${participant.name} left.`);
  }
  return said;
}

function linkNews(name: string, before: readonly Link[], after: readonly Link[]): string[] {
  const said: string[] = [];
  for (const link of after) {
    const earlier = before.find((each) => each.name === link.name);
    if (earlier === undefined || earlier.state === link.state) continue;
    // Suspicion lasts a fraction of a second; announcing it would only disturb.
    if (link.state === 'down') said.push(`${name}: link ${link.name} is down.`);
    if (link.state === 'up' && earlier.state === 'down') said.push(`${name}: link ${link.name} is up again.`);
  }
  return said;
}
