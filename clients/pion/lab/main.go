// Command lab is one end of a WebRTC call made with Pion, as a client of the
// lab: ../../README.md says what it reads and writes. It has no encoder: frames
// of made-up content follow the target of Pion's congestion control, as large
// as 30 pictures a second at that rate would be.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/cc"
	"github.com/pion/interceptor/pkg/gcc"
	"github.com/pion/interceptor/pkg/stats"
	"github.com/pion/webrtc/v4"

	"weft/clients/pion/endpoint"
)

const (
	period = 500 * time.Millisecond
	// What libwebrtc begins with (media/engine/webrtc_video_engine.cc), and
	// the least that it sends.
	startBps = 300_000
	leastBps = 50_000
)

// line is a line of the output; what does not apply is left out.
type line struct {
	About  map[string]any             `json:"about,omitempty"`
	Ready  bool                       `json:"ready,omitempty"`
	Signal *webrtc.SessionDescription `json:"signal,omitempty"`
	State  string                     `json:"state,omitempty"`
	Sample *sample                    `json:"sample,omitempty"`
}

type sample struct {
	UnixMs   float64   `json:"unix_ms"`
	RttMs    *float64  `json:"rtt_ms,omitempty"`
	Sent     *sent     `json:"sent,omitempty"`
	Received *received `json:"received,omitempty"`
}

type sent struct {
	Bytes      uint64  `json:"bytes"`
	Packets    uint64  `json:"packets"`
	Frames     uint64  `json:"frames"`
	Mbps       float64 `json:"mbps"`
	Fps        float64 `json:"fps"`
	TargetMbps float64 `json:"target_mbps"`
	Plis       uint32  `json:"plis"`
}

type received struct {
	Bytes   uint64  `json:"bytes"`
	Packets uint64  `json:"packets"`
	Lost    int64   `json:"lost"`
	Frames  uint64  `json:"frames"`
	Freezes uint64  `json:"freezes"`
	FreezeS float64 `json:"freeze_s"`
	Mbps    float64 `json:"mbps"`
	Fps     float64 `json:"fps"`
}

type options struct {
	caller  bool
	send    bool
	fps     int
	maxBps  int
	sending *film
	taking  *picture
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("pion: ")
	o := options{sending: &film{}, taking: &picture{}}
	role := flag.String("role", "", "caller or callee")
	flag.BoolVar(&o.send, "send", false, "have a camera")
	flag.IntVar(&o.fps, "fps", 30, "frames a second")
	flag.IntVar(&o.maxBps, "max-bps", 2_500_000, "the most that is sent, bits a second")
	// What all clients are given; there are no pictures here.
	for _, name := range []string{"size", "video", "degradation", "scratch"} {
		flag.String(name, "", "not used")
	}
	flag.Bool("sound", false, "not used: no microphone")
	flag.Parse()
	if *role != "caller" && *role != "callee" {
		log.Fatalf("-role %q: write caller or callee", *role)
	}
	o.caller = *role == "caller"
	endpoint.Tell(line{About: map[string]any{
		"client": "pion", "version": version(), "role": *role, "codec": "video/VP8",
		"camera": "made-up frames of the target's size",
	}})
	if err := run(o); err != nil {
		log.Fatal(err)
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/pion/webrtc/v4" {
			return module.Version
		}
	}
	return "unknown"
}

func run(o options) error {
	peer, found, err := connection(o)
	if err != nil {
		return err
	}
	peer.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		go drain(receiver)
		receive(peer, track, o.taking)
	})
	connected := make(chan struct{})
	var once sync.Once
	peer.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		endpoint.Tell(line{State: state.String()})
		if state == webrtc.PeerConnectionStateConnected {
			once.Do(func() { close(connected) })
		}
	})
	if o.send {
		if err := publish(peer, o, found.bandwidth, connected); err != nil {
			return err
		}
	}
	if o.caller {
		if !o.send {
			direction := webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly}
			if _, err := peer.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, direction); err != nil {
				return err
			}
		}
		offer, err := peer.CreateOffer(nil)
		if err != nil {
			return err
		}
		if err := describe(peer, offer); err != nil {
			return err
		}
	}
	endpoint.Tell(line{Ready: true})
	go sampleRegularly(o, found, connected)
	return listen(peer)
}

// listen takes the other end's description, and ends with the input.
func listen(peer *webrtc.PeerConnection) error {
	input := bufio.NewReader(os.Stdin)
	for {
		text, err := input.ReadBytes('\n')
		if err != nil {
			return peer.Close()
		}
		var said line
		if err := json.Unmarshal(text, &said); err != nil {
			return fmt.Errorf("a line that is no JSON: %w", err)
		}
		if said.Signal == nil {
			continue
		}
		if err := peer.SetRemoteDescription(*said.Signal); err != nil {
			return fmt.Errorf("Pion refuses the other end's description: %w", err)
		}
		if said.Signal.Type == webrtc.SDPTypeOffer {
			answer, err := peer.CreateAnswer(nil)
			if err != nil {
				return err
			}
			if err := describe(peer, answer); err != nil {
				return err
			}
		}
	}
}

// describe hands the description over once it has all candidates.
func describe(peer *webrtc.PeerConnection, description webrtc.SessionDescription) error {
	ours, err := endpoint.Describe(peer, description)
	if err != nil {
		return err
	}
	endpoint.Tell(line{Signal: ours})
	return nil
}

// estimators are what Pion's interceptors give to a connection.
type estimators struct {
	bandwidth cc.BandwidthEstimator
	stats     stats.Getter
}

func connection(o options) (*webrtc.PeerConnection, *estimators, error) {
	media := &webrtc.MediaEngine{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		return nil, nil, err
	}
	registry := &interceptor.Registry{}
	found := &estimators{}
	control, err := cc.NewInterceptor(func() (cc.BandwidthEstimator, error) {
		return gcc.NewSendSideBWE(gcc.SendSideBWEInitialBitrate(startBps),
			gcc.SendSideBWEMinBitrate(leastBps), gcc.SendSideBWEMaxBitrate(o.maxBps))
	})
	if err != nil {
		return nil, nil, err
	}
	control.OnNewPeerConnection(func(_ string, estimator cc.BandwidthEstimator) { found.bandwidth = estimator })
	registry.Add(control)
	counting, err := stats.NewInterceptor()
	if err != nil {
		return nil, nil, err
	}
	counting.OnNewPeerConnection(func(_ string, getter stats.Getter) { found.stats = getter })
	registry.Add(counting)
	if err := webrtc.ConfigureTWCCHeaderExtensionSender(media, registry); err != nil {
		return nil, nil, err
	}
	if err := webrtc.RegisterDefaultInterceptors(media, registry); err != nil {
		return nil, nil, err
	}
	api := webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(registry))
	peer, err := api.NewPeerConnection(webrtc.Configuration{})
	return peer, found, err
}

func sampleRegularly(o options, found *estimators, connected <-chan struct{}) {
	<-connected
	var before *sample
	for range time.Tick(period) {
		now := &sample{UnixMs: float64(time.Now().UnixMicro()) / 1e3}
		if ssrc := atomic.LoadUint32(&o.sending.ssrc); ssrc != 0 && found.stats != nil {
			if s := found.stats.Get(ssrc); s != nil {
				now.Sent = &sent{
					Bytes:      s.OutboundRTPStreamStats.BytesSent + s.OutboundRTPStreamStats.HeaderBytesSent,
					Packets:    s.OutboundRTPStreamStats.PacketsSent,
					Frames:     atomic.LoadUint64(&o.sending.frames),
					TargetMbps: float64(found.bandwidth.GetTargetBitrate()) / 1e6,
					Plis:       s.OutboundRTPStreamStats.PLICount,
				}
				if rtt := s.RemoteInboundRTPStreamStats.RoundTripTime; rtt > 0 {
					ms := float64(rtt) / 1e6
					now.RttMs = &ms
				}
			}
		}
		now.Received = o.taking.look(found.stats)
		addRates(now, before)
		before = now
		endpoint.Tell(line{Sample: now})
	}
}

func addRates(now, then *sample) {
	if then == nil {
		return
	}
	seconds := (now.UnixMs - then.UnixMs) / 1e3
	if now.Sent != nil && then.Sent != nil {
		now.Sent.Mbps = float64(now.Sent.Bytes-then.Sent.Bytes) * 8 / 1e6 / seconds
		now.Sent.Fps = float64(now.Sent.Frames-then.Sent.Frames) / seconds
	}
	if now.Received != nil && then.Received != nil {
		now.Received.Mbps = float64(now.Received.Bytes-then.Received.Bytes) * 8 / 1e6 / seconds
		now.Received.Fps = float64(now.Received.Frames-then.Received.Frames) / seconds
	}
}
