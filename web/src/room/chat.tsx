// Chat of the room.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatMessage } from '../model/types';
import type { Outbox, Outgoing } from '../signal/outbox';
import { isOwn, personOf, type Presence } from '../signal/presence';
import { timeOfDay } from '../view/format';
import { useStore } from '../view/hooks';
import { sentences } from '../view/parts';
import { Panel } from './panel';

/** Maximum length of a message in characters: the server's limit. */
const LONGEST = 2_000;
/** Number of remaining characters below which it is shown. */
const NEARLY = 200;

interface ChatProps {
  readonly presence: Presence;
  readonly outbox: Outbox;
  readonly onClose: () => void;
}

export function Chat({ presence, outbox, onClose }: ChatProps) {
  const { chat } = presence;
  const waiting = useStore(outbox.messages).filter(({ id }) => !chat.some((message) => message.id === id));
  const log = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const element = log.current;
    // The position of a reader who has scrolled up does not change.
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  }, [chat, waiting.length]);
  const onScroll = (): void => {
    const element = log.current;
    if (element !== null) follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
  };
  return (
    <Panel kind="chat" title="Chat" onClose={onClose}>
      <div class="messages" role="log" aria-label="Messages" tabIndex={0} ref={log} onScroll={onScroll}>
        <ul>
          {chat.length + waiting.length === 0 && <li class="quiet">No messages yet. Everybody in the room sees them, also people who join later.</li>}
          {chat.map((message, at) => (
            <Message key={message.id} message={message} own={isOwn(presence, message.from)} follows={at > 0 && personOf(presence, chat[at - 1]?.from ?? '') === personOf(presence, message.from)} />
          ))}
          {waiting.map((each) => (
            <Waiting key={each.key} outgoing={each} discard={() => outbox.discard(each.key)} />
          ))}
        </ul>
      </div>
      <Composer
        send={(text) => {
          follows.current = true;
          outbox.send(text);
        }}
      />
    </Panel>
  );
}

function Message({ message, own, follows }: { readonly message: ChatMessage; readonly own: boolean; readonly follows: boolean }) {
  return (
    <li class={own ? 'message own' : 'message'}>
      <p class={follows ? 'hidden-visually' : 'message-head'}>
        <bdi class="message-name">{own ? 'You' : message.name}</bdi>
        {message.at !== null && <time dateTime={new Date(message.at).toISOString()}>{timeOfDay(message.at)}</time>}
      </p>
      <p class="message-text" dir="auto">
        {message.text}
      </p>
    </li>
  );
}

function Waiting({ outgoing: { text, problem }, discard }: { readonly outgoing: Outgoing; readonly discard: () => void }) {
  const refused = problem?.temporary === false;
  return (
    <li class="message own waiting">
      <p class="message-text" dir="auto">
        {text}
      </p>
      <p class={refused ? 'hint error' : 'hint'}>
        {refused ? 'Not sent. ' : 'Sending… '}
        {problem !== null && sentences(problem)}
      </p>
      {refused && (
        <button type="button" class="button small" onClick={discard}>
          Discard
        </button>
      )}
    </li>
  );
}

function Composer({ send }: { readonly send: (text: string) => void }) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const left = LONGEST - [...text].length;
  const submit = (): void => {
    field.current?.focus();
    if (text.trim() === '' || left < 0) return;
    send(text);
    setText('');
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        ref={field}
        rows={2}
        aria-label="Message to everybody"
        aria-describedby={left < NEARLY ? 'left' : undefined}
        aria-invalid={left < 0}
        placeholder="Message to everybody"
        dir="auto"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // An input method ends its composition with the same key.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <button type="submit" class="button primary small">
        Send
      </button>
      {left < NEARLY && (
        <p id="left" class={left < 0 ? 'hint error' : 'hint'}>
          {left < 0 ? `${-left} characters too many` : `${left} characters left`}
        </p>
      )}
    </form>
  );
}
