"""One end of a WebRTC call made with GStreamer's webrtcbin, for tests:
../README.md says what it reads and writes. It takes what webrtcbin does by
default, its RSA certificate included."""

import argparse
import json
import os
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC

PERIOD_MS = 500
# Periods without a gathered offer after which another is made, and after which
# the program starts again.
OFFER_AGAIN = 4
START_AGAIN = 30
ENCODERS = {
    "vp8": "vp8enc deadline=1 keyframe-max-dist=60 ! rtpvp8pay pt=96",
    "vp9": "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=60 ! rtpvp9pay pt=96",
    "av1": "av1enc usage-profile=realtime cpu-used=10 keyframe-max-dist=60 ! av1parse ! rtpav1pay pt=96",
    "h264": "openh264enc gop-size=60 ! video/x-h264,profile=constrained-baseline ! h264parse ! rtph264pay config-interval=-1 pt=96",
}
# Parameters of H.264, which an application may leave out.
PARAMETERS = ",packetization-mode=(string)1,profile-level-id=(string)42e01f"
RECEIVED = {
    "vp8": "application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000,rtcp-fb-nack-pli=true",
    "vp9": "application/x-rtp,media=video,encoding-name=VP9,payload=96,clock-rate=90000,rtcp-fb-nack-pli=true",
    "av1": "application/x-rtp,media=video,encoding-name=AV1,payload=96,clock-rate=90000,rtcp-fb-nack-pli=true",
    "h264": "application/x-rtp,media=video,encoding-name=H264,payload=96,clock-rate=90000,rtcp-fb-nack-pli=true" + PARAMETERS,
}
DECODERS = {
    "VP8": "rtpvp8depay ! vp8dec",
    "VP9": "rtpvp9depay ! vp9dec",
    "AV1": "rtpav1depay ! av1parse ! av1dec",
    "H264": "rtph264depay ! h264parse ! openh264dec",
    "OPUS": "rtpopusdepay ! opusdec",
}
SOUND = "application/x-rtp,media=audio,encoding-name=OPUS,payload=97,clock-rate=48000,encoding-params=(string)2"


def tell(**line):
    print(json.dumps(line), flush=True)


def description(kind, text):
    _, sdp = GstSdp.SDPMessage.new_from_text(text)
    return GstWebRTC.WebRTCSessionDescription.new(kind, sdp)


class Counter:
    """Buffers that have passed a pad."""

    def __init__(self, pad):
        self.frames = 0
        pad.add_probe(Gst.PadProbeType.BUFFER, self.on_buffer)

    def on_buffer(self, *_):
        self.frames += 1
        return Gst.PadProbeReturn.OK


class End:
    def __init__(self, given):
        self.given = given
        self.loop = GLib.MainLoop()
        self.counters = {}
        self.kept = []
        self.told = False
        self.waited = 0
        width, height = given.size.split("x")
        if not given.send:
            self.pipeline = Gst.Pipeline.new()
            self.peer = Gst.ElementFactory.make("webrtcbin")
            self.peer.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
            self.pipeline.add(self.peer)
        else:
            pipeline = (
                f"webrtcbin name=peer bundle-policy=max-bundle videotestsrc is-live=true ! "
                f"video/x-raw,width={width},height={height},framerate={given.fps}/1 ! identity name=camera ! "
                f"videoconvert ! {ENCODERS[given.codec]} ! peer."
            )
            if given.sound:
                pipeline += " audiotestsrc is-live=true ! opusenc ! rtpopuspay pt=97 ! peer."
            self.pipeline = Gst.parse_launch(pipeline)
            self.peer = self.pipeline.get_by_name("peer")
            self.counters["sent"] = Counter(self.pipeline.get_by_name("camera").get_static_pad("src"))
        if given.send:
            self.peer.connect("on-negotiation-needed", self.offer)
        self.peer.connect("notify::ice-gathering-state", self.on_gathering)
        self.peer.connect("notify::connection-state", self.on_state)
        self.peer.connect("pad-added", self.on_pad)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", self.on_error)

    def run(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        if not self.given.send:
            receive = GstWebRTC.WebRTCRTPTransceiverDirection.RECVONLY
            pictures = RECEIVED[self.given.codec]
            if self.given.bare:
                pictures = pictures.replace(PARAMETERS, "")
            for caps in [pictures, SOUND] if self.given.sound else [pictures]:
                self.kept.append(self.peer.emit("add-transceiver", receive, Gst.Caps.from_string(caps)))
            self.offer()
        threading.Thread(target=self.listen, daemon=True).start()
        GLib.timeout_add(PERIOD_MS, self.sample)
        tell(ready=True)
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)

    def offer(self, *_):
        self.peer.emit("create-offer", None, Gst.Promise.new_with_change_func(self.on_offer))

    def on_offer(self, promise, *_):
        # Every step is kept: PyGObject frees the reply with the first of them.
        self.kept += [promise, promise.get_reply()]
        self.kept.append(self.kept[-1].get_value("offer"))
        text = self.kept[-1].sdp.as_text()
        offer = description(GstWebRTC.WebRTCSDPType.OFFER, text)
        self.peer.emit("set-local-description", offer, Gst.Promise.new())

    def on_gathering(self, *_):
        complete = GstWebRTC.WebRTCICEGatheringState.COMPLETE
        offer = self.peer.get_property("local-description")
        gathered = self.peer.get_property("ice-gathering-state") == complete
        # Gathering may be complete before the description is there.
        if gathered and offer is not None and not self.told:
            self.told = True
            tell(signal={"type": "offer", "sdp": offer.sdp.as_text()})

    def on_state(self, *_):
        tell(state=self.peer.get_property("connection-state").value_nick)

    def on_error(self, _, message):
        error, _ = message.parse_error()
        tell(error=error.message, remedy="run it with GST_DEBUG=3")
        self.loop.quit()

    def on_pad(self, _, pad):
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        codec = pad.get_current_caps().get_structure(0).get_string("encoding-name")
        chain = f"queue ! {DECODERS[codec]} ! identity name=out ! fakesink sync=false async=false"
        decoder = Gst.parse_bin_from_description(chain, True)
        name = "sound" if codec == "OPUS" else "received"
        self.counters[name] = Counter(decoder.get_by_name("out").get_static_pad("src"))
        self.pipeline.add(decoder)
        pad.link(decoder.get_static_pad("sink"))
        decoder.sync_state_with_parent()

    def listen(self):
        for line in sys.stdin:
            signal = json.loads(line).get("signal")
            if signal is not None:
                answer = description(GstWebRTC.WebRTCSDPType.ANSWER, signal["sdp"])
                self.peer.emit("set-remote-description", answer, Gst.Promise.new())
        self.loop.quit()

    def sample(self):
        self.on_gathering()
        self.waited += 1
        # On a busy machine webrtcbin may ask for negotiation before its pads have their
        # formats. It then makes an offer without media, gathers nothing and asks no more.
        if self.waited % OFFER_AGAIN == 0 and not self.told:
            self.offer()
        if self.waited == START_AGAIN and not self.told:
            self.start_again()
        now = {"unix_ms": time.time() * 1e3}
        for name in "sent", "received":
            if name in self.counters:
                now[name] = {"frames": self.counters[name].frames}
        if "sound" in self.counters:
            now["received"] = {**now.get("received", {}), "sound_packets": self.counters["sound"].frames}
        tell(sample=now)
        return True

    def start_again(self):
        """Replaces the process: a webrtcbin that hangs cannot be taken down."""
        states = ["signaling-state", "ice-gathering-state", "connection-state"]
        names = [self.peer.get_property(state).value_nick for state in states]
        description = self.peer.get_property("local-description")
        sections = description.sdp.medias_len() if description else None
        print(f"webrtcbin gathers no offer: {names}, {sections} sections; starting again", file=sys.stderr, flush=True)
        os.execv(sys.executable, [sys.executable, *sys.argv])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--role", choices=["caller"], required=True)
    parser.add_argument("--send", action="store_true", help="have a camera")
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--codec", choices=sorted(ENCODERS), default="vp8")
    parser.add_argument("--bare", action="store_true", help="list the received codec without parameters")
    parser.add_argument("--sound", action="store_true", help="have a microphone, or hear")
    return parser.parse_args()


Gst.init(None)
given = arguments()
version = ".".join(map(str, Gst.version()[:3]))
tell(about={"client": "gstreamer", "version": version, "role": given.role, "codec": given.codec})
End(given).run()
