import { Brand } from '../view/parts';

/** Page of `weft relay`: shows where the encoder publishes. */
export function RelayPage() {
  return (
    <main class="page narrow start">
      <Brand />
      <h1>A relay for your encoder.</h1>
      <p class="lead">
        Publish from OBS, ffmpeg or GStreamer by WHIP to <code>{location.origin}/whip/live</code>. Watch it on the
        server that the relay publishes to.
      </p>
    </main>
  );
}
