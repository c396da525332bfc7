// Runs in the page: one end of a call. The driver (main.mjs) calls `begin` and
// `onSignal`, and hears of `tell`, a binding that it has made.
'use strict';

/** How often statistics are told, ms. */
const PERIOD_MS = 500;

let peer;
let plan;

/** Opens the camera if this end sends, and makes the offer if it is the caller. */
async function begin(options) {
  plan = options;
  peer = new RTCPeerConnection({ iceServers: [] });
  peer.ontrack = ({ track, streams }) => {
    if (track.kind === 'video') document.getElementById('shown').srcObject = streams[0] ?? new MediaStream([track]);
  };
  peer.onconnectionstatechange = () => tell(JSON.stringify({ state: peer.connectionState }));
  if (plan.sends) await film();
  if (plan.role !== 'caller') return;
  if (!plan.sends) peer.addTransceiver('video', { direction: 'recvonly' });
  await peer.setLocalDescription(await peer.createOffer());
  await describe();
}

async function film() {
  const size = { width: { exact: plan.width }, height: { exact: plan.height } };
  const stream = await navigator.mediaDevices.getUserMedia({
    video: { ...size, frameRate: { ideal: plan.fps } },
    audio: plan.sound,
  });
  for (const track of stream.getTracks()) peer.addTrack(track, stream);
  const codecs = RTCRtpSender.getCapabilities('video').codecs;
  const wanted = (codec) => codec.mimeType.toLowerCase() === `video/${plan.codec}`;
  for (const transceiver of peer.getTransceivers()) {
    if (transceiver.sender.track?.kind !== 'video') continue;
    transceiver.setCodecPreferences([...codecs.filter(wanted), ...codecs.filter((codec) => !wanted(codec))]);
  }
}

/** Sets what only a negotiated sender takes. */
async function limit() {
  const sender = peer.getSenders().find(({ track }) => track?.kind === 'video');
  if (sender === undefined) return;
  const parameters = sender.getParameters();
  parameters.degradationPreference = plan.degradation;
  for (const encoding of parameters.encodings) encoding.maxBitrate = plan.maxBps;
  await sender.setParameters(parameters);
}

/** Hands the description over once it has all candidates. */
async function describe() {
  if (peer.iceGatheringState !== 'complete') {
    await new Promise((done) => {
      peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && done();
    });
  }
  const { type, sdp } = peer.localDescription;
  tell(JSON.stringify({ signal: { type, sdp } }));
}

/** Takes what the other end has handed over. */
async function onSignal(description) {
  await peer.setRemoteDescription(description);
  if (description.type === 'offer') {
    await peer.setLocalDescription(await peer.createAnswer());
    await describe();
  }
  await limit();
  setInterval(() => void sample(), PERIOD_MS);
}

let before;

async function sample() {
  const all = [...(await peer.getStats()).values()];
  const find = (type, also = () => true) => all.find((each) => each.type === type && also(each));
  const isVideo = ({ kind }) => kind === 'video';
  const out = find('outbound-rtp', isVideo);
  const into = find('inbound-rtp', isVideo);
  const transport = find('transport');
  const pair = all.find(({ id }) => id === transport?.selectedCandidatePairId);
  const codec = (of) => all.find(({ id }) => id === of?.codecId)?.mimeType;
  const now = { unix_ms: Math.round(performance.timeOrigin + performance.now()) };
  if (pair?.currentRoundTripTime !== undefined) now.rtt_ms = pair.currentRoundTripTime * 1e3;
  if (out !== undefined) now.sent = sent(out, codec(out), pair);
  if (into !== undefined) now.received = received(into, codec(into));
  addRates(now, before);
  before = now;
  tell(JSON.stringify({ sample: now }));
}

function sent(out, codec, pair) {
  return {
    bytes: out.bytesSent + out.headerBytesSent,
    packets: out.packetsSent,
    frames: out.framesEncoded,
    keyframes: out.keyFramesEncoded,
    resent_bytes: out.retransmittedBytesSent,
    plis: out.pliCount,
    width: out.frameWidth,
    height: out.frameHeight,
    target_mbps: mega(out.targetBitrate),
    available_mbps: mega(pair?.availableOutgoingBitrate),
    limited_by: out.qualityLimitationReason,
    cpu_limited_s: out.qualityLimitationDurations?.cpu,
    quantizer_sum: out.qpSum,
    encoder: out.encoderImplementation,
    codec,
  };
}

function received(into, codec) {
  return {
    bytes: into.bytesReceived + into.headerBytesReceived,
    packets: into.packetsReceived,
    lost: into.packetsLost,
    frames: into.framesDecoded,
    dropped: into.framesDropped,
    freezes: into.freezeCount,
    freeze_s: into.totalFreezesDuration,
    width: into.frameWidth,
    height: into.frameHeight,
    jitter_buffer_s: into.jitterBufferDelay,
    jitter_buffer_frames: into.jitterBufferEmittedCount,
    codec,
  };
}

/** What counts become over the last period: Mbit/s, frames a second, and ms in the jitter buffer. */
function addRates(now, then) {
  const seconds = then === undefined ? 0 : (now.unix_ms - then.unix_ms) / 1e3;
  if (seconds <= 0) return;
  for (const way of ['sent', 'received']) {
    const [here, past] = [now[way], then[way]];
    if (here === undefined || past === undefined) continue;
    here.mbps = ((here.bytes - past.bytes) * 8) / 1e6 / seconds;
    here.fps = (here.frames - past.frames) / seconds;
    const emitted = here.jitter_buffer_frames - past.jitter_buffer_frames;
    if (emitted > 0) here.jitter_buffer_ms = ((here.jitter_buffer_s - past.jitter_buffer_s) / emitted) * 1e3;
  }
}

function mega(bps) {
  return bps === undefined ? undefined : bps / 1e6;
}
