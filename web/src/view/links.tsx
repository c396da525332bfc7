// Links of a native sender: a badge that opens into figures.

import type { Link, LinkState } from '../model/types';
import { mbps, megabytes, ms, percent } from './format';
import { Links as LinksIcon } from './icons';
import { StateMark } from './parts';

const RANK: Record<LinkState, number> = { up: 0, suspect: 1, down: 2 };

function summary(links: readonly Link[]): string {
  const up = links.filter((link) => link.state === 'up').length;
  return up === links.length ? `${links.length} ${links.length === 1 ? 'link' : 'links'}` : `${up} of ${links.length} links up`;
}

interface LinkBadgeProps {
  readonly links: readonly Link[];
  readonly who: string;
  /** Whether the reporter has fallen silent, so that the values are outdated. */
  readonly old?: boolean;
}

export function LinkBadge({ links, who, old = false }: LinkBadgeProps) {
  if (links.length === 0) return null;
  const worst = links.reduce<LinkState>((state, link) => (RANK[link.state] > RANK[state] ? link.state : state), 'up');
  return (
    <details class={old ? 'badge old' : 'badge'}>
      <summary aria-label={`Links of ${who}: ${summary(links)}${old ? ', as they were' : ''}`}>
        <LinksIcon />
        <span>
          {summary(links)}
          {old && ' before'}
        </span>
        {links.map((link) => (
          <span key={link.name} class={`dot dot-${link.state}`} />
        ))}
      </summary>
      <div class="badge-panel">
        <LinkList links={links} />
        {old && <p class="links-note">The server has fallen silent: this is their last known state.</p>}
        {!old && worst === 'down' && <p class="links-note">The call continues over the other links.</p>}
      </div>
    </details>
  );
}

export function LinkList({ links }: { readonly links: readonly Link[] }) {
  return (
    <ul class="links">
      {links.map((link) => (
        <li key={link.name}>
          <div class="links-head">
            <strong>{link.name}</strong>
            <StateMark state={link.state} />
          </div>
          <Bar sent={link.sentMbps} target={link.targetMbps} />
          <dl class="links-figures">
            <Figure term="sends" value={mbps(link.sentMbps)} />
            <Figure term="could send" value={mbps(link.targetMbps)} minor />
            <Figure term="round trip" value={ms(link.rttMs)} />
            <Figure term="loss" value={percent(link.loss)} />
          </dl>
          {notes(link).map((note) => (
            <p key={note} class="links-note">
              {note}
            </p>
          ))}
        </li>
      ))}
    </ul>
  );
}

/** Sentences for the server's words about why a link carries no packets. */
const TROUBLE: Record<string, string> = {
  no_route: 'Carries nothing: the sender has no route over it.',
  rp_filter: 'Carries nothing: the sender’s machine drops arriving packets (rp_filter).',
  udp_blocked: 'Carries nothing: UDP is blocked there.',
  captive_portal: 'Carries nothing: a captive portal requires a login.',
  silent: 'Carries nothing: nothing comes back from the server.',
};

/** Returns sentences about the reason why the link carries no packets, and about its policy. */
export function notes(link: Link): string[] {
  const all: string[] = [];
  if (link.trouble !== null) all.push(TROUBLE[link.trouble] ?? 'Carries nothing.');
  if (link.budgetLeftMb !== null) {
    all.push(link.budgetLeftMb > 0 ? `Metered: ${megabytes(link.budgetLeftMb)} of its budget left.` : 'Its budget is used up.');
  } else if (link.metered) {
    all.push('Metered: used when the others are not enough.');
  }
  if (link.backup) all.push('Backup: used when no other link works.');
  return all;
}

interface FigureProps {
  readonly term: string;
  readonly value: string;
  /** Whether to hide it where space is short. */
  readonly minor?: boolean;
}

function Figure({ term, value, minor = false }: FigureProps) {
  return (
    <div class={minor ? 'minor' : ''}>
      <dt>{term}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Used share of the link's capacity; the numbers beside it show the same. */
function Bar({ sent, target }: { readonly sent: number | null; readonly target: number | null }) {
  const share = sent === null || target === null || target <= 0 ? 0 : Math.min(1, sent / target);
  return (
    <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="bar-track" width="100" height="4" />
      <rect class="bar-fill" width={share * 100} height="4" />
    </svg>
  );
}
