// Participants of the room: a pure function of the events.

import { readChatMessage, readHistory, readId, readLinksOf, readParticipant, readQueue, readReachable, readRecordingError, readSettings, readWelcome, type ChatMessage, type Link, type Participant, type Settings, type Waiting } from '../model/types';

export interface Presence {
  /** Our own id, after the server's welcome. */
  readonly self: string | null;
  /** Secret that proves our id. */
  readonly secret: string;
  /** Participants in order of arrival. */
  readonly participants: ReadonlyMap<string, Participant>;
  /** Persons behind participants who have moved from another server: their initial id. */
  readonly persons: ReadonlyMap<string, string>;
  /** Chat, the oldest message first. */
  readonly chat: readonly ChatMessage[];
  readonly settings: Settings;
  /** Whether the server can record the room. */
  readonly recordable: boolean;
  /** Latest failure of the recording; for moderators. */
  readonly recordingFailed: string | null;
  /** People who wait for admission; empty unless we may moderate. */
  readonly queue: readonly Waiting[];
  /** Whether the server knows the participants on the other servers of its cluster. */
  readonly complete: boolean;
}

export const nobody: Presence = { self: null, secret: '', participants: new Map(), persons: new Map(), chat: [], settings: readSettings(null), recordable: false, recordingFailed: null, queue: [], complete: true };

/** Maximum number of messages that the page keeps. Chosen by us: more than the server keeps for
 *  newcomers. */
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
        persons: welcome.participants.reduce(withPerson, presence.persons),
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
  const participants = new Map(presence.participants).set(participant.id, participant);
  return { ...presence, participants, persons: withPerson(presence.persons, participant) };
}

/** Keeps the persons of those who have left too, because messages in the chat are theirs. */
function withPerson(persons: Presence['persons'], { id, succeeds }: Participant): Presence['persons'] {
  if (succeeds === null || persons.has(id)) return persons;
  return new Map(persons).set(id, persons.get(succeeds) ?? succeeds);
}

/** Returns the id of the person behind a participant, which does not change when they move between
 *  servers. */
export function personOf({ persons }: Presence, id: string): string {
  return persons.get(id) ?? id;
}

/** Returns the chat with these messages, each once. */
function withMessages(chat: readonly ChatMessage[], more: readonly ChatMessage[]): readonly ChatMessage[] {
  const known = new Set(chat.map(({ id }) => id));
  const added = more.filter(({ id }) => !known.has(id));
  return added.length === 0 ? chat : [...chat, ...added].slice(-MOST_MESSAGES);
}

/** Whether a participant is ourselves, here or on a former server. */
export function isOwn(presence: Presence, id: string): boolean {
  return presence.self !== null && personOf(presence, id) === personOf(presence, presence.self);
}

/** Person in the room. */
export interface Person {
  readonly id: string;
  /** Participant that represents them; one of two while they move to another server. */
  readonly who: Participant;
}

/** Returns all people in the room, each once, in order of arrival. */
export function everybody(presence: Presence): Person[] {
  const all = new Map<string, Participant>();
  for (const who of presence.participants.values()) {
    const id = personOf(presence, who.id);
    const earlier = all.get(id);
    const stands = earlier === undefined || who.id === presence.self || (earlier.id !== presence.self && (publishes(who) || !publishes(earlier)));
    if (stands) all.set(id, who);
  }
  return [...all].map(([id, who]) => ({ id, who }));
}

function publishes({ publishing: { cameras, audio } }: Participant): boolean {
  return cameras.length > 0 || audio;
}

/** Returns the people with a raised hand, in the order of raising. */
export function hands(presence: Presence): Person[] {
  const raised = everybody(presence).filter(({ who }) => who.hand !== null);
  return raised.sort((a, b) => (a.who.hand ?? 0) - (b.who.hand ?? 0));
}

/** Returns all people except ourselves. */
export function others(presence: Presence): Person[] {
  return everybody(presence).filter(({ who }) => !isOwn(presence, who.id));
}

/** Returns the announcement of a change for screen readers, in short sentences. */
export function news(before: Presence, after: Presence): string[] {
  if (before.self === null) return [];
  const said: string[] = [];
  const [earlier, now] = [others(before), others(after)];
  for (const { id, who } of now) {
    const was = earlier.find((each) => each.id === id)?.who;
    if (was === undefined) said.push(`${who.name} joined.`);
    else {
      if (who.hand !== null && was.hand === null) said.push(`${who.name} raised a hand.`);
      said.push(...linkNews(who.name, was.links, who.links));
    }
  }
  for (const { id, name } of after.queue) {
    if (!before.queue.some((each) => each.id === id)) said.push(`${name} waits to be let in.`);
  }
  if (after.settings.locked !== before.settings.locked) said.push(after.settings.locked ? 'The room is locked.' : 'The room is open.');
  if (after.settings.recorded !== before.settings.recorded) said.push(after.settings.recorded ? 'The server records this room.' : 'The recording has ended.');
  const [was, is] = [before.participants.get(before.self), after.self === null ? undefined : after.participants.get(after.self)];
  if (is?.muted === true && was?.muted !== true) said.push('A moderator has muted you.');
  for (const { id, who } of earlier) {
    if (!now.some((each) => each.id === id)) said.push(`${who.name} left.`);
  }
  return said;
}

function linkNews(name: string, before: readonly Link[], after: readonly Link[]): string[] {
  const said: string[] = [];
  for (const link of after) {
    const earlier = before.find((each) => each.name === link.name);
    if (earlier === undefined || earlier.state === link.state) continue;
    // Suspicion lasts a fraction of a second; announcing it would only distract.
    if (link.state === 'down') said.push(`${name}: link ${link.name} is down.`);
    if (link.state === 'up' && earlier.state === 'down') said.push(`${name}: link ${link.name} is up again.`);
  }
  return said;
}
