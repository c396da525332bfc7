"""One end of a WebRTC call made with aiortc, as a client of the lab:
../README.md says what it reads and writes. The receiver's estimate (REMB) is
aiortc's congestion control; encoder and decoder are its own."""

import argparse
import asyncio
import fractions
import json
import sys
import time

import aiortc
import av
from aiortc import RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError, VideoStreamTrack

PERIOD_S = 0.5
# The stamp in the corner of the clip: weft_media::stamp describes it.
COLUMNS, ROWS = 22, 4
# W3C webrtc-stats, freezeCount: the mean is over so many times between frames.
FREEZE_WINDOW = 30


def tell(**line):
    print(json.dumps(line), flush=True)


def crc16(data):
    """CCITT, beginning with 0xFFFF."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def stamp(frame):
    """The number in the corner of a picture; None without one."""
    cell = min(frame.height / 45, frame.width / 48)
    if cell < 2 or frame.format.name != "yuv420p":
        return None
    plane = frame.planes[0]
    pixels, stride = memoryview(plane), plane.line_size

    def edges(index):
        return range(round((index + 0.25) * cell), round((index + 0.75) * cell))

    def level(row, column):
        across = edges(column)
        lines = [sum(pixels[line * stride + across.start : line * stride + across.stop]) for line in edges(row)]
        return sum(lines) / (len(lines) * len(across))

    ends = [(level(row, 0), level(row, COLUMNS - 1)) for row in range(ROWS)]
    middle = sum(map(sum, ends)) / (2 * ROWS)
    bits = 0
    for row in range(ROWS):
        for column in range(1, COLUMNS - 1):
            bits = bits << 1 | (level(row, column) > middle)
    data = bits.to_bytes(10, "big")
    return int.from_bytes(data[:4], "big") if crc16(data[:8]) == int.from_bytes(data[8:], "big") else None


class Camera(VideoStreamTrack):
    """A Y4M file in a loop, or grey pictures without one."""

    def __init__(self, path, width, height, fps):
        super().__init__()
        self.width, self.height, self.fps = width, height, fps
        self.count = 0
        self.number = -1
        self.filmed = []
        self.began = None
        self.file = open(path, "rb") if path else None
        if self.file:
            self.file.readline()
            self.first = self.file.tell()

    async def recv(self):
        now = time.monotonic()
        if self.began is None:
            self.began = now
        await asyncio.sleep(max(0.0, self.began + self.count / self.fps - now))
        filmed_at = time.time() * 1e3
        frame = self.frame()
        self.filmed.append([self.number, filmed_at])
        frame.pts = self.count
        frame.time_base = fractions.Fraction(1, self.fps)
        self.count += 1
        return frame

    def picture(self):
        """The planes of the next picture, one after the other."""
        size = self.width * self.height * 3 // 2
        if not self.file:
            return bytes([128]) * size
        self.number += 1
        if not self.file.readline():
            self.number = 0
            self.file.seek(self.first)
            self.file.readline()
        return self.file.read(size)

    def frame(self):
        frame = av.VideoFrame(self.width, self.height, "yuv420p")
        data, at = self.picture(), 0
        for plane in frame.planes:
            rows = []
            for _ in range(plane.height):
                rows.append(data[at : at + plane.width].ljust(plane.line_size, b"\0"))
                at += plane.width
            plane.update(b"".join(rows).ljust(plane.buffer_size, b"\0"))
        return frame


class Screen:
    """What has been received."""

    def __init__(self):
        self.frames = 0
        self.freezes = 0
        self.freeze_s = 0.0
        self.size = (None, None)
        self.between = []
        self.last = None
        self.shown = []

    async def watch(self, track):
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            self.on_frame(frame)

    def on_frame(self, frame):
        now = time.monotonic()
        number = stamp(frame)
        if number is not None:
            self.shown.append([number, time.time() * 1e3])
        self.frames += 1
        self.size = (frame.width, frame.height)
        if self.last is not None:
            took = now - self.last
            if self.between:
                mean = sum(self.between) / len(self.between)
                if took >= max(3 * mean, mean + 0.15):
                    self.freezes += 1
                    self.freeze_s += took
            self.between = [*self.between, took][-FREEZE_WINDOW:]
        self.last = now


async def sample(peer, camera, screen):
    now = {"unix_ms": time.time() * 1e3}
    for stats in (await peer.getStats()).values():
        if getattr(stats, "kind", "video") != "video":
            continue
        if stats.type == "outbound-rtp" and camera.began is not None:
            sender = peer.getSenders()[0]
            # Not in its statistics: what its encoder is told.
            encoder = getattr(sender, "_RTCRtpSender__encoder", None)
            target = getattr(encoder, "target_bitrate", None)
            now["sent"] = {
                "bytes": stats.bytesSent,
                "packets": stats.packetsSent,
                "frames": camera.count,
                "width": camera.width,
                "height": camera.height,
                "filmed": camera.filmed,
                **({} if target is None else {"target_mbps": target / 1e6}),
            }
        elif stats.type == "remote-inbound-rtp" and stats.roundTripTime:
            now["rtt_ms"] = stats.roundTripTime * 1e3
        elif stats.type == "inbound-rtp":
            width, height = screen.size
            now["received"] = {
                "packets": stats.packetsReceived,
                "lost": stats.packetsLost,
                "frames": screen.frames,
                "freezes": screen.freezes,
                "freeze_s": screen.freeze_s,
                "width": width,
                "height": height,
                "shown": screen.shown,
            }
    camera.filmed, screen.shown = [], []
    return now


def add_rates(now, then):
    if then is None:
        return
    seconds = (now["unix_ms"] - then["unix_ms"]) / 1e3
    for way in ("sent", "received"):
        here, past = now.get(way), then.get(way)
        if here is None or past is None:
            continue
        here["fps"] = (here["frames"] - past["frames"]) / seconds
        if "bytes" in here and "bytes" in past:
            here["mbps"] = (here["bytes"] - past["bytes"]) * 8 / 1e6 / seconds


async def sample_regularly(peer, camera, screen):
    before = None
    while True:
        await asyncio.sleep(PERIOD_S)
        if before is None and peer.connectionState != "connected":
            continue
        now = await sample(peer, camera, screen)
        add_rates(now, before)
        before = now
        tell(sample=now)


async def describe(peer, description):
    await peer.setLocalDescription(description)
    local = peer.localDescription
    tell(signal={"type": local.type, "sdp": local.sdp})


async def listen(peer):
    """Takes the other end's description, and ends with the input."""
    reader = asyncio.StreamReader(limit=1 << 20)
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    while line := await reader.readline():
        signal = json.loads(line).get("signal")
        if signal is None:
            continue
        await peer.setRemoteDescription(RTCSessionDescription(signal["sdp"], signal["type"]))
        if signal["type"] == "offer":
            await describe(peer, await peer.createAnswer())


async def main(given):
    peer = RTCPeerConnection()
    screen = Screen()
    width, height = map(int, given.size.split("x"))
    camera = Camera(given.video, width, height, given.fps)
    tasks = set()

    @peer.on("track")
    def on_track(track):
        if track.kind == "video":
            tasks.add(asyncio.ensure_future(screen.watch(track)))

    @peer.on("connectionstatechange")
    def on_state():
        tell(state=peer.connectionState)

    tell(about={"client": "aiortc", "version": aiortc.__version__, "role": given.role, "codec": "video/VP8", "camera": given.size})
    if given.send:
        peer.addTrack(camera)
        codecs = RTCRtpSender.getCapabilities("video").codecs
        for transceiver in peer.getTransceivers():
            transceiver.setCodecPreferences([c for c in codecs if c.mimeType in ("video/VP8", "video/rtx")])
    elif given.role == "caller":
        peer.addTransceiver("video", direction="recvonly")
    if given.role == "caller":
        await describe(peer, await peer.createOffer())
    tell(ready=True)
    tasks.add(asyncio.ensure_future(sample_regularly(peer, camera, screen)))
    await listen(peer)
    for task in tasks:
        task.cancel()
    await peer.close()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--role", choices=["caller", "callee"], required=True)
    parser.add_argument("--send", action="store_true", help="have a camera")
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--video", help="a Y4M file, played in a loop")
    # aiortc has no bound of its own, no degradation, and no microphone here.
    parser.add_argument("--max-bps", type=int, help="not used")
    parser.add_argument("--degradation", help="not used")
    parser.add_argument("--sound", action="store_true", help="not used")
    parser.add_argument("--scratch", help="not used")
    return parser.parse_args()


asyncio.run(main(arguments()))
