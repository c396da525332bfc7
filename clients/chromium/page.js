// Runs in the page: one end of a call. The driver (main.mjs) calls `begin` and
// `onSignal`, and hears of `tell`, a binding that it has made.
'use strict';

/** How often statistics are told, ms. */
const PERIOD_MS = 500;
/** How often a picture is handed over to be judged, ms. */
const JUDGED_MS = 2000;

let peer;
let plan;
/** Give the numbers of the pictures taken and shown since they were asked last, each with its time. */
let filmed = () => [];
let shown = () => [];
/** Gives the last picture that was taken out to be judged, once. */
let judged = () => undefined;

/** Opens the camera if this end sends, and makes the offer if it is the caller. */
async function begin(options) {
  plan = options;
  peer = new RTCPeerConnection({ iceServers: [] });
  peer.ontrack = ({ track, streams }) => {
    if (track.kind !== 'video') return;
    const screen = document.getElementById('shown');
    screen.srcObject = streams[0] ?? new MediaStream([track]);
    shown = numbers(screen, (metadata) => metadata.presentationTime);
    judged = pictures(screen);
  };
  peer.onconnectionstatechange = () => tell(JSON.stringify({ state: peer.connectionState }));
  if (plan.sends) await film();
  if (plan.role !== 'caller') return;
  for (const kind of plan.sends ? [] : plan.sound ? ['video', 'audio'] : ['video']) {
    peer.addTransceiver(kind, { direction: 'recvonly' });
  }
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
  const finder = Object.assign(document.createElement('video'), { muted: true, autoplay: true, width: 16 });
  finder.srcObject = new MediaStream(stream.getVideoTracks());
  document.body.append(finder);
  filmed = numbers(finder, (metadata) => metadata.captureTime ?? metadata.presentationTime);
  const codecs = RTCRtpSender.getCapabilities('video').codecs;
  const wanted = (codec) => codec.mimeType.toLowerCase() === `video/${plan.codec}`;
  for (const transceiver of peer.getTransceivers()) {
    if (transceiver.sender.track?.kind !== 'video') continue;
    transceiver.setCodecPreferences([...codecs.filter(wanted), ...codecs.filter((codec) => !wanted(codec))]);
  }
}

/** Reads the corner of every picture of a video; gives what was read since it was asked last. */
function numbers(video, timeOf) {
  let found = [];
  const look = (_, metadata) => {
    video.requestVideoFrameCallback(look);
    const frame = new VideoFrame(video);
    const at = performance.timeOrigin + timeOf(metadata);
    // A picture that cannot be read is one that is not counted.
    stamp(frame).then((number) => number !== undefined && found.push([number, at]), () => {}).finally(() => frame.close());
  };
  video.requestVideoFrameCallback(look);
  return () => found.splice(0);
}

/** Takes a picture out of a video now and then; gives it once. */
function pictures(video) {
  let taken;
  const take = async () => {
    const frame = new VideoFrame(video);
    try {
      taken = await luma(frame);
    } finally {
      frame.close();
    }
  };
  // Before the first picture there is no frame, and a format without luma cannot be judged.
  setInterval(() => video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA && void take().catch(() => {}), JUDGED_MS);
  return () => {
    const last = taken;
    taken = undefined;
    return last;
  };
}

/** Whether the first plane of its pixels is its luma, a byte each. */
function beginsWithLuma(frame) {
  return /^(I420|NV12)/.test(frame.format ?? '');
}

async function luma(frame) {
  if (!beginsWithLuma(frame)) return undefined;
  const { width, height } = frame.visibleRect;
  const planes = new Uint8Array(frame.allocationSize());
  const [{ offset, stride }] = await frame.copyTo(planes);
  let bytes = '';
  for (let row = 0; row < height; row += 1) {
    const begin = offset + row * stride;
    bytes += String.fromCharCode(...planes.subarray(begin, begin + width));
  }
  return { width, height, base64: btoa(bytes) };
}

/** The number in the corner, as weft_media::stamp describes it; undefined without one. */
async function stamp(frame) {
  const [COLUMNS, ROWS] = [22, 4];
  const { x, y, width, height } = frame.visibleRect;
  const cell = Math.min(height / 45, width / 48);
  if (cell < 2 || !beginsWithLuma(frame)) return undefined;
  const even = (length) => 2 * Math.ceil(length / 2);
  const rect = { x, y, width: even(COLUMNS * cell), height: even(ROWS * cell) };
  const pixels = new Uint8Array(frame.allocationSize({ rect }));
  const [{ offset, stride }] = await frame.copyTo(pixels, { rect });
  const edges = (index) => [0.25, 0.75].map((part) => Math.round((index + part) * cell));
  const level = (row, column) => {
    const [[top, bottom], [left, right]] = [edges(row), edges(column)];
    let sum = 0;
    for (let line = top; line < bottom; line += 1) for (let at = left; at < right; at += 1) sum += pixels[offset + line * stride + at];
    return sum / ((bottom - top) * (right - left));
  };
  let [bright, dark] = [0, 0];
  for (let row = 0; row < ROWS; row += 1) {
    const ends = [level(row, 0), level(row, COLUMNS - 1)];
    bright += ends[row % 2] / ROWS;
    dark += ends[1 - (row % 2)] / ROWS;
  }
  const bytes = new Uint8Array(10);
  for (let bit = 0; bit < 80; bit += 1) {
    const isSet = level(Math.floor(bit / 20), 1 + (bit % 20)) > (bright + dark) / 2;
    bytes[bit >> 3] |= isSet ? 0x80 >> (bit & 7) : 0;
  }
  const view = new DataView(bytes.buffer);
  return crc16(bytes.subarray(0, 8)) === view.getUint16(8) ? view.getUint32(0) : undefined;
}

/** CCITT, beginning with 0xFFFF. */
function crc16(bytes) {
  let crc = 0xffff;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc;
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
  const heard = find('inbound-rtp', ({ kind }) => kind === 'audio');
  if (now.received !== undefined && heard !== undefined) now.received.sound_packets = heard.packetsReceived;
  if (now.sent !== undefined) now.sent.filmed = filmed();
  if (now.received !== undefined) Object.assign(now.received, { shown: shown(), picture: judged() });
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
