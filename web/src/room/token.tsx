// Form for a required token, shown before the camera is requested.

import { useState } from 'preact/hooks';
import type { Problem } from '../model/problem';
import { roomPath } from '../routes';
import { askAccess, tokenFrom } from '../signal/access';
import { browserEnv } from '../signal/env';
import { Field } from '../view/field';
import { Brand } from '../view/parts';

interface TokenPageProps {
  readonly room: string;
  /** Problem of the token that was given; null if none was given. */
  readonly problem: Problem | null;
}

export function TokenPage({ room, problem }: TokenPageProps) {
  const [typed, setTyped] = useState('');
  const [refused, setRefused] = useState(problem);
  const [missing, setMissing] = useState(false);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const token = tokenFrom(typed);
    setMissing(token === '');
    if (token === '') return document.getElementById('token')?.focus();
    const access = await askAccess(browserEnv(), room, token);
    if (access.kind !== 'in') return setRefused(access.problem);
    // The server stores it in a cookie that scripts cannot read.
    location.assign(`${roomPath(room)}?token=${encodeURIComponent(token)}`);
  };

  const error = missing ? 'Enter the token that you were given.' : refused === null ? null : `${refused.error} ${refused.remedy}`;
  return (
    <main class="page narrow">
      <Brand />
      <h1>“{room}” requires a token</h1>
      <p class="lead">Ask the person who invited you. Camera and microphone stay off until you join.</p>
      <form class="card form" onSubmit={(event) => void submit(event)} noValidate>
        <Field
          id="token"
          label="Token"
          hint="The token, or the whole address that you were sent"
          error={error}
          value={typed}
          onInput={setTyped}
          focused
          maxLength={4096}
        />
        <button type="submit" class="button primary">
          Continue
        </button>
      </form>
    </main>
  );
}
